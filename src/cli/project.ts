import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Part, versionsOf } from "../packages.js";
import type { Terminal } from "./terminal.js";
import { packageVersion } from "./version.js";

/** The folder of this package. */
const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const MANAGERS = ["npm", "pnpm", "yarn", "bun"];

/** The package.json of a new project. */
export async function manifestFor(folder: string, needs: Part | undefined): Promise<string> {
  const name =
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+/, "")
      .slice(0, 214) || "my-app";
  const content = {
    name,
    private: true,
    type: "module",
    scripts: {
      start: "headwater dev program.ts --journal data",
      test: "node --import tsx --test program.test.ts",
      types: "tsc",
    },
    dependencies: { headwater: await sourceOf(PACKAGE), ...(needs === undefined ? {} : versionsOf(needs)) },
    devDependencies: { "@types/node": "^20", tsx: "^4", typescript: ">=5.9" },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** What to tell npm to get this very package: its version, or the file or folder that it was installed from. */
async function sourceOf(folder: string): Promise<string> {
  const modules = dirname(resolve(folder));
  if (basename(modules) !== "node_modules") return `file:${resolve(folder)}`; // a checkout
  try {
    const { packages } = JSON.parse(
      await readFile(resolve(modules, ".package-lock.json"), "utf8"),
    ) as Installed;
    const from = packages["node_modules/headwater"]?.resolved ?? "";
    if (from.startsWith("file:")) return `file:${resolve(dirname(modules), from.slice("file:".length))}`;
  } catch {
    // Other package managers keep other lists.
  }
  return `^${packageVersion()}`;
}

/** What npm keeps of what it has installed. */
interface Installed {
  readonly packages: Readonly<Record<string, { readonly resolved?: string }>>;
}

/** Resolves with whether it succeeded; the package manager has said why not. */
export async function install(folder: string, terminal: Terminal): Promise<boolean> {
  const [agent = ""] = (process.env.npm_config_user_agent ?? "").split("/");
  const manager = MANAGERS.includes(agent) ? agent : "npm";
  const quiet = manager === "npm" ? ["--no-audit", "--no-fund", "--loglevel=error"] : [];
  terminal.say(`Installing with ${manager}.`);
  // What it says is for people, so nothing of it goes to stdout. On Windows, package managers are scripts of a shell.
  const child = spawn(manager, ["install", ...quiet], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  const failure = await new Promise<string | null>((done) => {
    child.once("error", ({ message }) => done(message));
    child.once("close", (code, signal) =>
      done(code === 0 ? null : `it ended with ${signal ?? `code ${code}`}`),
    );
  });
  if (failure === null) return true;
  terminal.say(
    `${manager} install failed in ${folder}: ${failure}. The project is there; run it again when its cause is gone.`,
  );
  return false;
}
