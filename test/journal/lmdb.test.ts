import assert from "node:assert/strict";
import { test } from "node:test";
import { withSurvey } from "#src/journal/survey.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";
import { allOf, IDENTITY, newDirectory, openIn, outcome, textOf, write } from "./support.js";

/** Far away, so that only the limit under test is reached. */
const NEVER = { keys: 1e9, bytes: 1e12, commits: 1e9, idleMs: 1e9 };

function logCommits(directory: string): Promise<number> {
  return withSurvey(directory, async (survey) => survey.logCommits);
}

test("what was written is there after the journal was closed and opened again", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  const large = "x".repeat(3_000_000);
  await write(journal, { a: "1", b: "2", large, gone: "x" });
  await write(journal, { gone: null, b: "3" });
  await journal.close();
  const again = await openIn(t, directory);
  assert.deepEqual(allOf(again), { a: "1", b: "3", large });
  await write(again, { a: null });
  await again.close();
  assert.deepEqual(allOf(await openIn(t, directory)), { b: "3", large });
});

test("a close carries everything over, so that the next opening has no log to read", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: NEVER });
  for (let i = 0; i < 20; i++) await write(journal, { [`k${i}`]: "x" });
  assert.equal(await logCommits(directory), 20);
  await journal.close();
  assert.equal(await logCommits(directory), 0);
  assert.equal(Object.keys(allOf(await openIn(t, directory))).length, 20);
});

for (const [limit, value] of Object.entries({ keys: 30, bytes: 900, commits: 30 })) {
  test(`the log is carried over and cut when it reaches the limit of ${limit}`, async (t) => {
    const directory = newDirectory(t);
    const journal = await openIn(t, directory, { carryOver: { ...NEVER, [limit]: value } });
    let longest = 0;
    for (let i = 0; i < 200; i++) {
      await write(journal, { [`k${i}`]: `value ${i}`, [`k${i - 20}`]: i % 3 === 0 ? null : "changed" });
      longest = Math.max(longest, await logCommits(directory));
    }
    assert.ok(longest >= 15 && longest <= 70, `the log was ${longest} commits long`);
    const before = allOf(journal);
    await journal.close();
    assert.deepEqual(allOf(await openIn(t, directory)), before);
  });
}

test("the log is carried over in a pause", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: { ...NEVER, idleMs: 1 } });
  await write(journal, { a: "1", b: "2" });
  await until(async () => (await logCommits(directory)) === 0);
  assert.deepEqual(allOf(journal), { a: "1", b: "2" });
});

test("commits share a sync: many groups that wait together become few commits", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: NEVER });
  const groups = Array.from({ length: 1000 }, (_, i) =>
    outcome(journal, [{ key: `k${i}`, value: Buffer.from("x") }]),
  );
  assert.deepEqual(new Set(await Promise.all(groups)), new Set([null]));
  assert.ok((await logCommits(directory)) <= 3);
});

test("a journal that is taken over fences off the first opening, also in one process", async (t) => {
  const directory = newDirectory(t);
  const first = await openIn(t, directory);
  await write(first, { a: "1" });
  const waiting = outcome(first, [{ key: "b", value: Buffer.from("late or not") }]);
  const second = await openIn(t, directory, { takeOver: true });
  const isLate = (await waiting) !== null;
  assert.deepEqual(allOf(second), isLate ? { a: "1" } : { a: "1", b: "late or not" });
  await write(second, { a: "2" });
  for (let i = 0; i < 3; i++) {
    const error = await outcome(first, [{ key: "a", value: Buffer.from("stale") }]);
    assert.equal(error?.code, "HW-3005");
    assert.ok(error.message.includes(directory));
  }
  assert.equal(textOf(second, "a"), "2");
  await first.close();
  await second.close();
  assert.equal(textOf(await openIn(t, directory), "a"), "2");
});

test("one process cannot have a journal open with two durabilities", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  await refused(
    openIn(t, directory, { durability: "written", takeOver: true }),
    "HW-3009",
    directory,
    "written",
  );
  await write(journal, { a: "1" });
  await journal.close();
  assert.deepEqual(allOf(await openIn(t, directory, { durability: "written" })), { a: "1" });
});

test("a survey sees what a running journal has committed, and neither stops it nor takes it over", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: { ...NEVER, keys: 3 } });
  for (let i = 0; i < 10; i++) {
    await write(journal, { [`k${i}`]: "x" });
    const { keys, card, epoch } = await withSurvey(directory, async (survey) => ({
      ...survey,
      keys: [...survey.entries].map(([key]) => key),
    }));
    assert.equal(keys.length, i + 1);
    assert.deepEqual({ program: card.program, format: card.format, epoch }, { ...IDENTITY, epoch: 1 });
  }
});
