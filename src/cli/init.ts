import { readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { didYouMean } from "../suggest.js";
import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { install, manifestFor } from "./project.js";
import { TEMPLATES } from "./templates.js";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const names = Object.keys(TEMPLATES);

export const init: CliCommand = {
  name: "init",
  operands: ["FOLDER"],
  summary: "write a new project: a program, a test of it, and what runs them",
  details:
    `Writes into a folder that is new or empty. Templates: ${names.map((name) => `${name} (${TEMPLATES[name]?.summary})`).join(", ")}. ` +
    "Then it installs what the project needs, with the package manager that has started it (npm otherwise). In the folder, `npm start` runs " +
    "the program with the dashboard, and `npm test` runs it in the simulator.",
  options: {
    template: { value: "NAME", help: `${names.join(", ")}; chat unless told otherwise` },
    "no-install": { help: "write the files only" },
  },
  async run({ operands: [folder = ""], values, flags }, terminal) {
    const name = values.get("template") ?? "chat";
    const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
    if (template === undefined)
      throw misused(init, `There is no template "${name}".${didYouMean(name, names)}`);
    const place = resolve(folder);
    refuseUnlessEmpty(place);
    const files = {
      "package.json": await manifestFor(basename(place), template.needs),
      "tsconfig.json": TSCONFIG,
      ".gitignore": "node_modules\ndata\n",
      "program.ts": await readFile(new URL(template.example, EXAMPLES), "utf8"),
      "program.test.ts": template.test,
    };
    try {
      await mkdir(place, { recursive: true });
      for (const [file, text] of Object.entries(files))
        await writeFile(join(place, file), text, { flag: "wx" });
    } catch (error) {
      throw misused(
        init,
        `${place} cannot be written (${codeOf(error)}): name a folder in which you may write.`,
      );
    }
    terminal.say(`Wrote the template ${name} to ${place}.`);
    const isInstalled = !flags.has("no-install") && (await install(place, terminal));
    if (flags.has("json"))
      terminal.out(JSON.stringify({ folder: place, template: name, files: Object.keys(files), isInstalled }));
    const steps = [`cd ${quoted(folder)}`, ...(isInstalled ? [] : ["npm install"]), "npm start"];
    terminal.say(`Next: ${steps.join(" && ")}`);
    return isInstalled || flags.has("no-install") ? 0 : 1;
  },
};

/** A folder that is not there yet is as good as an empty one. */
function refuseUnlessEmpty(place: string): void {
  let found: readonly string[];
  try {
    found = readdirSync(place);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw misused(init, `${place} cannot be a folder for a project (${codeOf(error)}): name another.`);
  }
  if (found.length > 0)
    throw misused(
      init,
      `${place} is not empty (it has ${found[0]}), and nothing is overwritten: name a new folder.`,
    );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

/** As a shell takes it. */
function quoted(folder: string): string {
  return /^[\w./~@%+,:-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
}

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: "es2022",
      lib: ["es2023", "dom"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ["node"],
    },
    include: ["*.ts"],
  },
  null,
  2,
)}\n`;
