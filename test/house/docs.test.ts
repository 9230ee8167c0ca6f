import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { HeadwaterError } from "headwater";
import { type Block, blocksOf } from "./blocks.js";
import { filesIn, ROOT } from "./source.js";

const execute = promisify(execFile);

/** Inside the package, so that the programs import "headwater" as a user's program would. */
const FOLDER = join(ROOT, ".cache", "docs");

/** So many lines of prose may stand between a program and what it prints. */
const LINES_BETWEEN = 4;

interface Program extends Block {
  readonly page: string;
  readonly file: string;
}

const top = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
const pages = filesIn([...top, "docs", "bench"], [".md"]);
const programs: Program[] = pages.flatMap(({ path, text }) =>
  blocksOf(text)
    .filter(({ language, fragment }) => language === "ts" && !fragment)
    .map((block) => ({
      ...block,
      page: path,
      file: join(FOLDER, `${path.replaceAll("/", "-").replace(/\.md$/, "")}-${block.line}.ts`),
    })),
);

before(() => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, text, line } of programs) {
    writeFileSync(file, "\n".repeat(line - 1) + text); // so that a compiler's line numbers are the page's
  }
  const settings = { extends: "../../tsconfig.json", include: ["."] };
  writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify(settings));
});

test("every whole program in the docs compiles", async () => {
  assert.ok(programs.length > 0);
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  const errors = await execute(tsc, ["-p", FOLDER], { cwd: ROOT }).then(
    () => "",
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  );
  assert.equal(errors, "");
});

test("every link to a file of the repository leads to one", () => {
  const links = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => ({ path, target: target ?? "" })),
  );
  const local = links.filter(({ target }) => !/^https?:/.test(target));
  assert.ok(local.length > 0);
  assert.deepEqual(
    local.filter(({ path, target }) => !existsSync(join(ROOT, dirname(path), target))),
    [],
  );
});

describe("the programs of the error pages", () => {
  for (const { page, file, section, line } of programs.filter(({ page }) =>
    page.startsWith("docs/errors/"),
  )) {
    const code = basename(page, ".md");
    if (section === "Example") {
      test(`${page}:${line} is refused with ${code}`, async () => {
        await assert.rejects(import(pathToFileURL(file).href), (error) => {
          assert.ok(error instanceof HeadwaterError, String(error));
          assert.equal(error.code, code, error.message);
          return true;
        });
      });
    } else {
      test(`${page}:${line} runs`, async () => {
        const warnings: Error[] = []; // an event that fails with nobody waiting for it becomes one
        const listener = (warning: Error) => warnings.push(warning);
        process.on("warning", listener);
        await import(pathToFileURL(file).href);
        await new Promise(setImmediate);
        process.off("warning", listener);
        assert.deepEqual(warnings, []);
      });
    }
  }
});

/** What the page says that a program prints: the block right behind it. */
function printedBy({ page, line, text }: Program): string | undefined {
  const after = line + text.split("\n").length;
  const blocks = blocksOf(pages.find(({ path }) => path === page)?.text ?? "");
  const next = blocks.find((block) => block.line > line);
  return next?.language === "text" && next.line <= after + LINES_BETWEEN ? next.text : undefined;
}

describe("the programs of the README and of all pages but those of errors", () => {
  for (const program of programs.filter(({ page }) => !page.startsWith("docs/errors/"))) {
    test(`${program.page}:${program.line} runs and prints what the page says`, async (t) => {
      const folder = mkdtempSync(join(FOLDER, "run-")); // for its journal, if it has one
      t.after(() => rmSync(folder, { recursive: true }));
      const command = /export async function main\b/.test(program.text)
        ? [join(ROOT, "dist", "cli", "main.js"), "run", program.file]
        : ["--import", "tsx", program.file];
      const { stdout } = await execute(process.execPath, command, { cwd: folder });
      assert.equal(stdout, printedBy(program) ?? "");
    });
  }
});

describe("programs of the pages that run on hosts do so on threads and on processes", () => {
  const onHosts = programs.filter(
    ({ page, text }) => !page.startsWith("docs/errors/") && text.includes("module: import.meta.url"),
  );
  for (const { page, line, file, text } of onHosts) {
    for (const hostsAs of ["threads", "processes"]) {
      test(`${page}:${line} on ${hostsAs}`, async () => {
        const own = text.replace(/ hostsAs: "\w+",/, "");
        const variant = file.replace(/\.ts$/, `-${hostsAs}.ts`);
        writeFileSync(variant, own.replace("module: import.meta.url", `$&, hostsAs: "${hostsAs}"`));
        const { stderr } = await execute(process.execPath, ["--import", "tsx", variant], { cwd: FOLDER });
        assert.equal(stderr, "");
      });
    }
  }
});
