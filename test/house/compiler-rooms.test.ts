import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import { importsIn } from "./imports.js";
import { filesIn } from "./source.js";

/** The rooms of the compiler, each of which may load those before it, by their doors. */
const ORDER = [
  "callees",
  "source",
  "points-to",
  "pipeliner/whole",
  "pipeliner/hazards",
  "pipeliner/slice",
  "pipeliner/decide",
  "pipeliner/partition",
  "pipeliner",
  "awaits",
  "link",
  "language",
  "show",
];

const room = (path: string) => posix.dirname(path).replace(/^src\/fluxion\/?/, "");
const imports = importsIn(filesIn(["src/fluxion"], [".ts"])).filter(
  ({ from, to }) => room(from) !== room(to) && ORDER.includes(room(to)),
);

test("the rooms of the compiler are entered by their doors", () => {
  const wrong = imports.filter(({ to }) => posix.basename(to) !== "index.ts");
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} imports ${to}`),
    [],
  );
});

test("the rooms of the compiler load only what lies below them", () => {
  assert.ok(imports.length > 50);
  const wrong = imports.filter(({ from, to, need }) => {
    const above = ORDER.indexOf(room(from));
    return need === "value" && above >= 0 && ORDER.indexOf(room(to)) > above;
  });
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} loads ${to}`),
    [],
  );
});
