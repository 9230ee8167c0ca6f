import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { MARKS, Marks } from "#src/core/marks.js";
import { PLANTS } from "#src/core/plants.js";
import { filesIn } from "../house/source.js";
import { traced } from "./scenario.js";

/**
 * What the core does, as texts to read: `scenarios/*.txt` (their language: `scenario.ts`). After an intended change,
 * `REWRITE=1 npm test -- core/scenarios` writes the traces anew; review the diff as you would review code.
 */

const FOLDER = new URL("scenarios/", import.meta.url);
const isRewriting = process.env.REWRITE === "1";
const marks = new Marks();

const scenarios = readdirSync(FOLDER)
  .sort()
  .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), "utf8") }));

for (const { name, text } of scenarios) {
  test(`the core does what ${name} says`, () => {
    const now = traced(text, marks);
    if (isRewriting) writeFileSync(new URL(name, FOLDER), now);
    else assert.equal(now, text);
  });
}

test("the scenarios show everything that the core takes note of", () => {
  const core = filesIn(["src/core"], [".ts"]).map(({ text }) => text);
  const inCore = MARKS.filter((mark) =>
    core.some((text) => text.includes(`"${mark}"`) && !text.includes("MARKS")),
  );
  assert.ok(inCore.length > 20, "the marks are where this test looks for them");
  for (const { text } of scenarios) traced(text, marks);
  assert.deepEqual(marks.missing(inCore), []);
});

test("every bug that can be planted in the core changes the trace of some scenario", () => {
  const core = filesIn(["src/core"], [".ts"]).filter(({ path }) => !path.endsWith("plants.ts"));
  const inCore = PLANTS.filter((plant) => core.some(({ text }) => text.includes(`"${plant}"`)));
  assert.ok(inCore.length > 5, "the plants are where this test looks for them");
  const unseen = inCore.filter((plant) =>
    scenarios.every(({ text }) => traced(text, new Marks(), plant) === traced(text, new Marks())),
  );
  assert.deepEqual(unseen, []);
});
