import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { didYouMean } from "../suggest.js";
import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { TEMPLATES } from "./templates.js";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const MANIFEST = new URL("../../package.json", import.meta.url);
const names = Object.keys(TEMPLATES);

export const init: CliCommand = {
  name: "init",
  operands: ["FOLDER"],
  summary: "write a new project: a program, a test of it, and what runs them",
  details:
    `Writes into a folder that is new or empty. Templates: ${names.map((name) => `${name} (${TEMPLATES[name]?.summary})`).join(", ")}. ` +
    "Then, in the folder: `npm install`, `npm start` runs the program with the dashboard, `npm test` runs it in the simulator.",
  options: { template: { value: "NAME", help: `${names.join(", ")}; chat unless told otherwise` } },
  async run({ operands: [folder = ""], values, flags }, terminal) {
    const name = values.get("template") ?? "chat";
    const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
    if (template === undefined)
      throw misused(init, `There is no template "${name}".${didYouMean(name, names)}`);
    const place = resolve(folder);
    if (existsSync(place) && (await readdir(place).catch(() => ["a file"])).length > 0)
      throw misused(init, `${place} is not an empty folder, and nothing is overwritten.`);
    await mkdir(place, { recursive: true });
    const files = {
      "package.json": await manifest(basename(place)),
      "tsconfig.json": TSCONFIG,
      ".gitignore": "node_modules\ndata\n",
      "program.ts": await readFile(new URL(template.example, EXAMPLES), "utf8"),
      "program.test.ts": template.test,
    };
    for (const [file, text] of Object.entries(files))
      await writeFile(join(place, file), text, { flag: "wx" });
    if (flags.has("json"))
      terminal.out(JSON.stringify({ folder: place, template: name, files: Object.keys(files) }));
    terminal.say(`Wrote the template ${name} to ${place}. Next: cd ${folder} && npm install && npm start`);
    return 0;
  },
};

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

async function manifest(folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(MANIFEST, "utf8")) as { version: string };
  const name =
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+/, "") || "my-app";
  const content = {
    name,
    private: true,
    type: "module",
    scripts: {
      start: "headwater dev program.ts --journal data",
      test: "node --import tsx --test program.test.ts",
      types: "tsc",
    },
    dependencies: { headwater: `^${version}` },
    devDependencies: { "@types/node": "^20", tsx: "^4", typescript: ">=5.9" },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
