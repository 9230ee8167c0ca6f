import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSync } from "oxc-parser";
import { parseAllDocuments } from "yaml";
import { readArguments } from "#src/cli/arguments.js";
import { commands } from "#src/cli/commands.js";
import { commandNamed } from "#src/cli/help.js";
import { parseDefinition } from "#src/sql/index.js";
import packageFile from "../../package.json" with { type: "json" };
import { type Block, blocksOf } from "./blocks.js";
import { wordsOf } from "./shell-words.js";
import { filesIn } from "./source.js";

/**
 * What stands in the pages as code is code. Whole programs are compiled and run (docs.test.ts, test/server/docs, test/fluxion/pages and others run
 * sessions and listings). Everything else that can be read by itself is read here by what would read it.
 */

interface Found extends Block {
  readonly place: string;
}

const found: Found[] = filesIn(
  ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "bench", "src", "packages"],
  [".md"],
).flatMap(({ path, text }) => blocksOf(text).map((block) => ({ ...block, place: `${path}:${block.line}` })));

function of(...languages: readonly string[]): Found[] {
  const blocks = found.filter(({ language }) => languages.includes(language));
  assert.ok(blocks.length > 0);
  return blocks;
}

/** The places of the blocks that a reader throws on, with what it says. */
async function refused(blocks: readonly Found[], read: (block: Found) => unknown): Promise<string[]> {
  const said: string[] = [];
  for (const block of blocks) {
    try {
      await read(block);
    } catch (error) {
      said.push(`${block.place}: ${(error as Error).message}`);
    }
  }
  return said;
}

/** What a part of a program can be a part of. */
const AROUND: readonly (readonly [before: string, after: string])[] = [
  ["", ""],
  ["async function* part(this: unknown) {", "}"],
  ["class Part {", "}"],
  ["declare class Part {", "}"],
  ["declare ", ""],
  ["const part = {", "}"],
];

function readCode({ text }: Block): void {
  const wrong = AROUND.map(([before, after]) => {
    const [error] = ["part.ts", "part.tsx"]
      .map((name) => parseSync(name, `${before}${text}\n${after}`).errors)
      .toSorted((a, b) => a.length - b.length)[0] as readonly { message: string }[];
    return error?.message;
  });
  assert.ok(wrong.includes(undefined), wrong[0]);
}

/** Their listings are compiled by test/fluxion/pages, which expects them to be refused. */
const REFUSED = /^docs\/errors\/HW-70/;

function checkCommands({ text }: Block): number {
  let count = 0;
  for (const words of wordsOf(text)) {
    const [first, ...rest] = words;
    if (first === "npm" && rest[0] === "run") {
      const [, name = ""] = rest;
      assert.ok(Object.hasOwn(packageFile.scripts, name), `there is no npm run ${name}`);
    }
    if (first !== "headwater") continue;
    count++;
    const [name = "", ...given] = rest;
    if (name.startsWith("-")) continue;
    const { flags } = readArguments(commandNamed(name, commands), given);
    assert.ok(flags instanceof Set);
  }
  return count;
}

describe("what pages show as code can be read", () => {
  test("every block says what it is in", () => {
    // Files of Docker, NATS and systemd are read and carried out by test/guides/deploying.
    const known = [
      "ts",
      "tsx",
      "js",
      "sh",
      "sql",
      "yaml",
      "json",
      "html",
      "console",
      "text",
      "dockerfile",
      "conf",
      "ini",
    ];
    const others = found.filter(
      ({ language, text }) => !known.includes(language) && !/[─│┌]|^HW-|^npm /m.test(text),
    );
    assert.deepEqual(
      others.map(({ place, language }) => `${place}: ${language}`),
      [],
    );
  });

  test("parts of programs, and programs in JavaScript", async () => {
    const blocks = of("ts", "tsx", "js").filter(({ place }) => !REFUSED.test(place));
    assert.ok(blocks.length > 400);
    assert.deepEqual(await refused(blocks, readCode), []);
  });

  test("data", async () => {
    assert.deepEqual(await refused(of("json"), ({ text }) => JSON.parse(text)), []);
    const readYaml = ({ text }: Block) => {
      for (const { errors } of parseAllDocuments(text)) for (const error of errors) throw error;
    };
    assert.deepEqual(await refused(of("yaml"), readYaml), []);
  });

  test("SQL", async () => {
    const read = async ({ text }: Block) => {
      const statements = text.replaceAll(/--.*$/gm, "").split(/;\s*$/m);
      for (const each of statements)
        if (each.trim() !== "") await parseDefinition(each.replace(/^\s*explain /i, ""));
    };
    assert.deepEqual(await refused(of("sql"), read), []);
  });

  test("command lines name commands, operands and options that there are", async () => {
    let count = 0;
    const blocks = of("sh", "console").filter(({ place }) => place !== "docs/errors/HW-2001.md:11");
    assert.deepEqual(await refused(blocks, (block) => (count += checkCommands(block))), []);
    assert.ok(count > 80, String(count));
  });
});

test("a command line in a page that is wrong is found, wherever it stands", () => {
  const wrong = [
    "headwater run",
    "npx headwater dve app.ts",
    "A=b headwater query 'SELECT 1' --form x.csv",
    "zcat x | headwater query",
    "true && headwater journal info",
    "$ headwater run a.ts b.ts",
    "npm run nothing",
  ];
  for (const text of wrong)
    assert.throws(() => checkCommands({ language: "sh", fragment: false, text, line: 1, section: "" }), text);
});
