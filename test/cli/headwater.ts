import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { commandLine } from "#src/cli/cli.js";
import { waitFor } from "../waits.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const MAIN = join(ROOT, "dist", "cli", "main.js");

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Carries out a command line in this process, for commands that neither load programs nor wait for signals. */
export async function headwater(...args: string[]): Promise<Ended> {
  const out: string[] = [];
  const said: string[] = [];
  const terminal = {
    out: (line: string) => out.push(line),
    say: (line: string) => said.push(line),
    colours: false,
  };
  const exitCode = await commandLine(args, terminal);
  return { exitCode, stdout: out.join("\n"), stderr: said.join("\n") };
}

/** The command line as a process of its own. */
export class Running {
  stdout = "";
  stderr = "";
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  #changed: () => void = () => {};

  /** `first` is what a shell does before it becomes the command line. */
  constructor(args: readonly string[], folder: string, first = ":") {
    const shell = ["-c", `${first}; exec "$0" "$@"`, process.execPath, MAIN, ...args];
    this.#process = spawn("sh", shell, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout?.setEncoding("utf8").on("data", (text: string) => this.#hear("stdout", text));
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => this.#hear("stderr", text));
    this.ended = new Promise((resolve) => {
      this.#process.on("close", (exitCode) => {
        resolve({ exitCode, stdout: this.stdout, stderr: this.stderr });
        this.#changed();
      });
    });
  }

  #hear(stream: "stdout" | "stderr", text: string): void {
    this[stream] += text;
    this.#changed();
  }

  /** Resolves once the process has written this; rejects if it ends without. */
  hasWritten(text: string): Promise<void> {
    return waitFor(`for a command to write ${JSON.stringify(text)}`, this.#untilWritten(text));
  }

  async #untilWritten(text: string): Promise<void> {
    while (!(this.stdout + this.stderr).includes(text)) {
      if (this.#process.exitCode !== null)
        throw new Error(`ended without "${text}":\n${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  interrupt(signal: NodeJS.Signals = "SIGINT"): void {
    this.#process.kill(signal);
  }
}

export function runHere(folder: string, ...args: string[]): Promise<Ended> {
  return new Running(args, folder).ended;
}

/** A package outside of this one, with headwater among its modules, as after `npm install headwater`. */
export function packageWith(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  type = "module",
): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  write(folder, { "package.json": JSON.stringify({ name: "outside", type }), ...files });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules", "headwater"), "dir");
  return folder;
}

export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
