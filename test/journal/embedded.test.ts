import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Journal } from "#src/journal/journal.js";
import { segmentsIn } from "#src/journal/log/segment.js";
import { withSurvey } from "#src/journal/survey.js";
import { until } from "../waits.js";
import { allOf, IDENTITY, newDirectory, openIn, outcome, textOf, write } from "./support.js";

/** Far away, so that only the limit under test is reached. */
const NEVER = { keys: 1e9, bytes: 1e12, logBytes: 1e12, idleLogBytes: 1e12, idleMs: 1e9 };

/** How many commits are in the log and not in the table's file. */
function logCommits(directory: string): Promise<number> {
  return withSurvey(directory, async (survey) => survey.logCommits);
}

/** How many tables there are, and segments of the log. */
function filesOf(directory: string): { tables: number; segments: number } {
  const tables = readdirSync(join(directory, "table")).filter((name) => name.endsWith(".sum"));
  return { tables: tables.length, segments: segmentsIn(readdirSync(join(directory, "log"))).length };
}

/** Writes until something is so. */
async function writeUntil(journal: Journal, isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; !(await isSo()); i++) await write(journal, { [`k${i % 3}`]: `${i}`.repeat(2000) });
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

for (const [limit, value] of Object.entries({ keys: 30, bytes: 900, logBytes: 1500 })) {
  test(`what is in memory goes into the table's file at the limit of ${limit}`, async (t) => {
    const directory = newDirectory(t);
    const journal = await openIn(t, directory, { carryOver: { ...NEVER, [limit]: value } });
    const model = new Map<string, string | null>();
    for (let i = 0; i < 300 || (await logCommits(directory)) > 290; i++) {
      const writes = { [`k${i}`]: `value ${i}`, [`k${i - 20}`]: i % 3 === 0 ? null : "changed" };
      for (const [key, text] of Object.entries(writes)) model.set(key, text);
      await write(journal, writes);
    }
    const expected = Object.fromEntries([...model].filter(([, text]) => text !== null).sort());
    assert.deepEqual(Object.fromEntries(Object.entries(allOf(journal)).sort()), expected);
    await journal.close();
    assert.deepEqual(Object.fromEntries(Object.entries(allOf(await openIn(t, directory))).sort()), expected);
  });
}

test("two tables are kept, and the log behind the older one", async (t) => {
  const directory = newDirectory(t);
  const carryOver = { ...NEVER, logBytes: 2000 };
  const journal = await openIn(t, directory, { carryOver, segments: { min: 8192, max: 8192 } });
  const seen = new Set<string>();
  const lookAtTables = async () => {
    for (const name of readdirSync(join(directory, "table"))) if (name.endsWith(".sum")) seen.add(name);
    const { tables, segments } = filesOf(directory);
    assert.ok(tables <= 3 && segments <= 60, `${tables} tables and ${segments} segments`);
    return seen.size > 5;
  };
  await write(journal, { first: "1" });
  await writeUntil(journal, async () => filesOfIfAny(directory) > 0);
  await writeUntil(journal, lookAtTables);
  await journal.close();
  assert.equal(filesOf(directory).tables, 2);
  assert.equal(textOf(await openIn(t, directory), "first"), "1");
});

function filesOfIfAny(directory: string): number {
  return readdirSync(directory).includes("table") ? filesOf(directory).tables : 0;
}

test("what is in memory goes into the table's file in a pause, if it is worth it", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: { ...NEVER, idleLogBytes: 1, idleMs: 1 } });
  await write(journal, { a: "1", b: "2" });
  await until(async () => (await logCommits(directory)) === 0);
  assert.deepEqual(allOf(journal), { a: "1", b: "2" });
});

test("groups that wait together share a sync, in frames of a few megabytes", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: NEVER });
  const small = Array.from({ length: 1000 }, (_, i) =>
    outcome(journal, [{ key: `k${i}`, value: Buffer.from("x") }]),
  );
  assert.deepEqual(new Set(await Promise.all(small)), new Set([null]));
  assert.ok((await logCommits(directory)) <= 3);
  const large = Array.from({ length: 40 }, (_, i) =>
    outcome(journal, [{ key: `large${i}`, value: Buffer.alloc(2 ** 20, i) }]),
  );
  assert.deepEqual(new Set(await Promise.all(large)), new Set([null]));
  const commits = await logCommits(directory);
  assert.ok(commits >= 8, `40 MB are in ${commits} frames`);
  for (let i = 0; i < 40; i++) assert.equal(journal.get(`large${i}`)?.[5], i);
});

test("a group that waits for a later frame is in order with those before it, over a change of tables", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, { carryOver: { ...NEVER, bytes: 6 * 2 ** 20 } });
  const order: number[] = [];
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 60; i++) {
      const value = Buffer.alloc(2 ** 20, i);
      journal.append(
        [
          { key: `k${i % 4}`, value },
          { key: "last", value: Buffer.from([i]) },
        ],
        (error) => {
          assert.equal(error, null);
          if (order.push(i) === 60) resolve();
        },
      );
    }
  });
  assert.deepEqual(
    order,
    order.map((_, i) => i),
  );
  await journal.close();
  const again = await openIn(t, directory);
  for (let i = 56; i < 60; i++) assert.equal(again.get(`k${i % 4}`)?.[7], i);
  assert.equal(again.get("last")?.[0], 59);
});

test("a journal that is taken over fences off the first opening, also in one process", async (t) => {
  const directory = newDirectory(t);
  const first = await openIn(t, directory);
  await write(first, { a: "1" });
  const waiting = outcome(first, [{ key: "b", value: Buffer.from("late or not") }]);
  const second = await openIn(t, directory, { takeOver: true, durability: "written" });
  const isLate = (await waiting) !== null;
  if (!isLate) assert.deepEqual(allOf(second), { a: "1", b: "late or not" });
  await write(second, { a: "2" });
  for (let i = 0; i < 3; i++) {
    const error = await outcome(first, [{ key: "a", value: Buffer.from("stale") }]);
    assert.equal(error?.code, "HW-3005");
    assert.ok(error.message.includes(directory));
  }
  assert.equal((await outcome(first, []))?.code, "HW-3005", "also for one that writes nothing");
  assert.equal(textOf(second, "a"), "2");
  await first.close();
  await second.close();
  assert.equal(textOf(await openIn(t, directory), "a"), "2");
});

test("an owner that is idle hears that it was taken over", async (t) => {
  const directory = newDirectory(t);
  let hears: (code: string) => void = () => {};
  const heard = new Promise<string>((resolve) => {
    hears = resolve;
  });
  await openIn(t, directory, { carryOver: { idleMs: 1 }, onFailure: ({ code }) => hears(code) });
  await openIn(t, directory, { takeOver: true });
  assert.equal(await heard, "HW-3005");
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
