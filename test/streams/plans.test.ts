import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch, type Cell, column } from "#src/streams/columns/index.js";
import { startQuery } from "#src/streams/operators/index.js";
import { type Plan, pruned } from "#src/streams/plan/index.js";
import fc from "../properties.js";
import { contents } from "./batches.js";
import { naive } from "./naive.js";
import { plan, rows, TABLE } from "./random-plans.js";

/** The answer of the engine, with the rows given in batches of some sizes. */
function run(
  of: Plan,
  given: readonly (readonly Cell[])[],
  sizes: readonly number[],
): { rows: Cell[][]; refused: number } {
  const found: Cell[][] = [];
  const query = startQuery(of, (batch) => found.push(...contents(batch).rows));
  for (let at = 0, i = 0; at < given.length; i++) {
    const size = sizes[i] ?? given.length;
    query.push("r", Batch.of(TABLE, given.slice(at, at + size)));
    at += size;
  }
  query.end();
  return { rows: found, refused: query.errors.count };
}

/** As a bag: groups come in any order. Both zeros are one value, and a group keeps the first that it met. */
function bag(all: readonly (readonly Cell[])[]): string[] {
  return all
    .map((row) => row.map((each) => (each === 0 ? "0" : `${typeof each} ${String(each)}`)).join(", "))
    .sort();
}

test("any plan gives what the naive evaluator gives, and refuses as many rows, in batches of any size", () => {
  fc.assert(
    fc.property(
      plan,
      rows,
      fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }),
      (of, given, sizes) => {
        // What nothing looks at is not computed, and so not refused either.
        const expected = naive(pruned(of), { r: given });
        const found = run(of, given, sizes);
        assert.deepEqual(bag(found.rows), bag(expected.rows));
        assert.equal(found.refused, expected.refused);
      },
    ),
    { numRuns: 1500 },
  );
});

test("a plan without what nothing looks at has the same answer", () => {
  fc.assert(
    fc.property(plan, rows, (of, given) => {
      const expected = naive(of, { r: given });
      if (expected.refused > 0) return;
      const narrow = pruned(of);
      assert.deepEqual(narrow.columns, of.columns);
      assert.deepEqual(bag(naive(narrow, { r: given }).rows), bag(expected.rows));
    }),
    { numRuns: 500 },
  );
});

test("rows without grouping come in the order in which they were given, and sorting is stable", () => {
  const scan: Plan = { kind: "scan", table: "r", columns: TABLE };
  fc.assert(
    fc.property(
      rows,
      fc.boolean(),
      fc.boolean(),
      fc.option(fc.nat({ max: 5 })),
      fc.nat({ max: 3 }),
      (given, descending, nullsFirst, limit, offset) => {
        const of: Plan = {
          kind: "sort",
          input: scan,
          order: [
            { index: 1, descending, nullsFirst },
            { index: 2, descending: false, nullsFirst },
          ],
          limit,
          offset,
          columns: TABLE,
        };
        assert.deepEqual(run(of, given, [3, 3]).rows, naive(of, { r: given }).rows);
        assert.deepEqual(run(scan, given, [2]).rows, given);
      },
    ),
  );
});

test("sessions hold the rows that no gap separates", () => {
  const scan: Plan = { kind: "scan", table: "r", columns: TABLE };
  const of: Plan = {
    kind: "session",
    input: scan,
    time: 6,
    keys: [1, 4],
    gapMs: 1000,
    columns: [...TABLE, column("window_start", "timestamp", false), column("window_end", "timestamp", false)],
  };
  fc.assert(
    fc.property(rows, (given) =>
      assert.deepEqual(bag(run(of, given, [4]).rows), bag(naive(of, { r: given }).rows)),
    ),
  );
});
