import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../properties.js";
import { compileText } from "./compiling.js";
import { randomProgram } from "./random/program.js";
import { compiledTrace, interpretedRun, plainRun, plainTrace } from "./random/world.js";

const schedule = fc.array(fc.nat(20), { minLength: 5, maxLength: 30 });
const RUNS = 300;

/** What one request saw, in its order. */
const byRequest = (trace: readonly string[]) =>
  [0, 1, 2].map((nth) => trace.filter((each) => each.startsWith(`${nth}:`)));

test("a random program does the same, in the same order, with all of its stages elsewhere", async () => {
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(randomProgram, schedule, async ({ text }, events) => {
      const compiled = await compiledTrace(compileText(text), events, false);
      moved += compiled.moved;
      assert.deepEqual(compiled.trace, await plainTrace(text, events));
    }),
    { numRuns: RUNS },
  );
  assert.ok(moved > RUNS, `stages were moved: ${moved}`);
});

test("each request sees the same, however long stages take", async () => {
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(
      randomProgram.filter(({ pauses }) => !pauses),
      schedule,
      async ({ text }, events) => {
        const compiled = await compiledTrace(compileText(text), events, true);
        moved += compiled.moved;
        assert.deepEqual(byRequest(compiled.trace), byRequest(await plainTrace(text, events)));
      },
    ),
    { numRuns: RUNS },
  );
  assert.ok(moved > RUNS / 2, `stages were moved: ${moved}`);
});

for (const atOnce of [true, false]) {
  const when = atOnce ? "at once" : "in the next turn of the event loop";
  test(`printed, read back and interpreted, a random program does the same if messages arrive ${when}`, async () => {
    let continuations = 0;
    await fc.assert(
      fc.asyncProperty(randomProgram, schedule, async ({ text }, events) => {
        const compilation = compileText(text);
        const { trace, ends } = await interpretedRun(compilation, events, atOnce);
        const plain = await plainRun(text, events);
        assert.deepEqual(trace, plain.trace);
        if (text.includes('app.get("/", async ')) assert.deepEqual(ends, plain.ends);
        continuations += compilation.pipeline.parts.filter(({ name }) => /_\d+$/.test(name)).length;
      }),
      { numRuns: RUNS },
    );
    assert.ok(continuations > RUNS / 4, `awaits became continuations: ${continuations}`);
  });
}
