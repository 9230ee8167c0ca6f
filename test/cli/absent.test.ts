import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commands } from "#src/cli/commands.js";
import { packageWith, ROOT, runHere } from "./headwater.js";

/** Whatever a command line names and is not there: one code, one exit code, for every command. */

const READ = /\b(PROGRAM|FILE|DIR|PATH)\b/;
/** Options that name what a command writes. */
const WRITTEN = [
  "dev --journal",
  "run --journal",
  "run --log",
  "serve --log",
  "run --record-load",
  "run --admin",
  "run --profile",
  "run --stats",
  "serve --journal",
  "serve --output-files",
  "compile --out",
  "journal --to",
  "policy --svg",
];
/** What else an option needs to be looked at. */
const NEEDS: Readonly<Record<string, string>> = {
  "run --policy": "--hosts 1..2",
  "run --profiled": "--fluxions",
  "compile --profiled": "--dry-run",
  "policy --policy": "--load load.jsonl",
  "query --functions": "--from flow.yaml",
  "serve --pg-cert": "--pg-port 0 --pg-key flow.yaml",
  "serve --pg-key": "--pg-port 0 --pg-cert flow.yaml",
};
const PRESENT: Readonly<Record<string, string>> = { PROGRAM: "app.mjs", FILE: "flow.yaml", DIR: "data" };

/** What to write for an operand: each of its choices, or something that is there. */
function choicesOf(operand: string): string[] {
  return PRESENT[operand] === undefined ? operand.split("|") : [PRESENT[operand]];
}

function* lines(): Iterable<string> {
  for (const { name, operands, options } of commands) {
    const required = operands.filter((operand) => !operand.startsWith("["));
    for (const choice of choicesOf(required[0] ?? "")) {
      const words = required.map((operand, i) => (i === 0 ? choice : choicesOf(operand)[0]));
      for (const [i, operand] of required.entries()) {
        if (READ.test(operand)) yield [name, ...words.with(i, "absent")].join(" ");
      }
      for (const [option, { value = "" }] of Object.entries(options)) {
        const full = `${name} --${option}`;
        if (!READ.test(value) || WRITTEN.includes(full)) continue;
        yield [name, ...words, `--${option} absent`, NEEDS[full]].join(" ").trim().replaceAll(/ +/g, " ");
      }
    }
  }
}

test("the table has every command that reads something", () => {
  const named = new Set([...lines()].map((line) => line.split(" ")[0]));
  assert.deepEqual([...named].toSorted(), [
    "analyze",
    "compile",
    "dev",
    "doctor",
    "events",
    "hosts",
    "journal",
    "observe",
    "policy",
    "query",
    "replay",
    "run",
    "serve",
    "state",
    "streams",
  ]);
});

test("each option said to be written is an option of its command", () => {
  const known = commands.flatMap(({ name, options }) =>
    Object.keys(options).map((option) => `${name} --${option}`),
  );
  assert.deepEqual(
    WRITTEN.filter((option) => !known.includes(option)),
    [],
  );
});

for (const line of lines()) {
  test(`headwater ${line} says that it is not there, and exits with 2`, async (t) => {
    const folder = packageWith(t, {
      "app.mjs": 'import { Context } from "headwater"; export default class App extends Context {}',
      "flow.yaml": "A: { annotation: { from: in, to: out, label: CR } }",
      "load.jsonl": '{"atMs":0,"context":["Game"],"costMs":1}',
    });
    const { exitCode, stderr } = await runHere(folder, ...line.split(" "));
    assert.match(stderr, /^error HW-2004: .*absent/m);
    assert.equal(exitCode, 2, stderr);
  });
}

for (const line of ["run app --journal notes", "serve --port 0 --journal notes"]) {
  test(`headwater ${line} leaves a directory alone that is no journal, and shows no lines of this package`, async (t) => {
    const folder = packageWith(t, {
      "app.ts": 'import { Context } from "headwater"; export default class App extends Context {}',
      "notes/a.txt": "mine",
    });
    const { exitCode, stderr } = await runHere(folder, ...line.split(" "));
    assert.match(stderr, /HW-3001/);
    assert.notEqual(exitCode, 0);
    assert.doesNotMatch(stderr, /^\s+at /m);
    assert.ok(!stderr.includes(join(ROOT, "src")));
    assert.deepEqual(readdirSync(join(folder, "notes")), ["a.txt"]);
  });
}
