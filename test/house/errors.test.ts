import assert from "node:assert/strict";
import { basename } from "node:path";
import { test } from "node:test";
import { type Code, codes } from "#src/errors.js";
import { type Block, blocksOf, sectionsOf } from "./blocks.js";
import { filesIn, withoutComments } from "./source.js";

const pages = filesIn(["docs/errors"], [".md"]);
const SECTIONS = ["What happened", "Example", "Why there is this rule", "How to fix it"];

/** Codes that no correct program or command can cause by itself, or that take a command to cause. */
const WITHOUT_PROGRAM: readonly Code[] = [
  "HW-1403",
  "HW-1027",
  "HW-1028",
  "HW-1106",
  "HW-1107",
  "HW-2001",
  "HW-2002",
  "HW-2003",
  "HW-2004",
  "HW-2005", // test/cli/packed.test.ts
  "HW-3021",
  ...Object.keys(codes).filter((code): code is Code => code.startsWith("HW-31")), // test/cluster/journal.test.ts
  "HW-4023", // test/server/presence.test.ts
  "HW-4040",
  "HW-5006",
  "HW-5008",
  "HW-5301", // test/streams/codec.test.ts
  "HW-5302", // test/cli/query.test.ts
  ...Object.keys(codes).filter((code): code is Code => code.startsWith("HW-54")), // test/streams/graph.test.ts
  ...Object.keys(codes).filter((code): code is Code => code.startsWith("HW-55")), // test/streams/outputs, test/streams/ad-hoc.test.ts
  "HW-6001",
  "HW-6002",
  "HW-6003",
  "HW-6011",
  "HW-6012",
  "HW-6013",
  "HW-6014",
  "HW-6015",
  "HW-6016",
  "HW-6022",
  "HW-6023",
  "HW-6004",
  "HW-6005",
  "HW-6006",
  "HW-6007",
  "HW-6008",
  "HW-6009",
  "HW-6030",
  "HW-6031", // test/fleet/parked.test.ts
  "HW-6032",
  "HW-6034", // test/cli/supervise.test.ts
  "HW-6035",
  ...Object.keys(codes).filter((code): code is Code => code.startsWith("HW-70")), // test/fluxion/pages.test.ts
  "HW-7101",
  "HW-8002", // they are found in a simulation, whose own error is HW-8001: test/kit
  "HW-8003",
  "HW-8005",
  "HW-8006",
  "HW-9001",
];

test("every code has a page and every page a code", () => {
  const documented = pages.map(({ path }) => basename(path, ".md"));
  assert.deepEqual(documented.toSorted(), Object.keys(codes).toSorted());
});

test("every code is raised somewhere in src", () => {
  const src = filesIn(["src"], [".ts"]).filter(({ path }) => path !== "src/errors.ts");
  // HW-9001 is raised by `invariant`, beside the table itself; the simulator prints its code before what it found; the
  // compiler gives its codes to facts that speak against moving a stage.
  const raises = (text: string, code: string) =>
    new RegExp(
      `(HeadwaterError(\\.withoutStack)?|fact)\\(\\s*"${code}"|\\bcode: "${code}"|\\bsay\\(.*${code}: `,
    ).test(withoutComments(text));
  const silent = Object.keys(codes).filter((code) => !src.some(({ text }) => raises(text, code)));
  assert.deepEqual(silent, ["HW-9001"]);
});

for (const { path, text } of pages) {
  const code = basename(path, ".md") as Code;
  test(`${path} is titled like its code and has all sections in order`, () => {
    assert.equal(text.split("\n")[0], `# ${code}: ${codes[code][1]}`);
    assert.deepEqual(sectionsOf(text), SECTIONS);
  });
}

/** The pages of some codes in whose sections on example and fix there is not what should be. */
function pagesWithout(
  isWanted: (block: Block) => boolean,
  sections: readonly string[],
  of: (code: Code) => boolean,
) {
  return pages
    .filter(({ path }) => of(basename(path, ".md") as Code))
    .filter(({ text }) => {
      const found = blocksOf(text).filter(isWanted);
      return !sections.every((wanted) => found.some(({ section }) => section === wanted));
    })
    .map(({ path }) => path);
}

const isProgram = ({ language, fragment }: Block) => language === "ts" && !fragment;

test("a page shows a program that causes its error and one that does not", () => {
  const sections = ["Example", "How to fix it"];
  assert.deepEqual(
    pagesWithout(isProgram, sections, (code) => !WITHOUT_PROGRAM.includes(code)),
    [],
  );
});

test("a page of an error that no program alone can cause shows where it comes from", () => {
  const pages = pagesWithout(
    () => true,
    ["Example"],
    (code) => WITHOUT_PROGRAM.includes(code),
  );
  assert.deepEqual(pages, ["docs/errors/HW-9001.md"]); // nothing should cause it
});
