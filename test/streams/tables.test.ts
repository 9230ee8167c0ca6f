import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { KeyedTable } from "#src/streams/tables/index.js";
import fc from "../properties.js";
import { CELLS } from "./batches.js";

/** Few keys, so that they meet; every type that can be a key, NULL, both zeros and NaN among them. */
const KEYS: Readonly<Record<string, readonly Cell[]>> = {
  int: [0, 1, -1, 2 ** 40, 2 ** 32],
  float: [0, -0, 0.5, Number.NaN, 1],
  bool: [true, false],
  text: ["", "a", "b", "😀"],
  timestamp: [0, 1.5, 1e12],
  numeric: [0, 1, -250, 2n ** 60n, -(2n ** 60n), 2n ** 60n + 1n],
};

type Step =
  | { kind: "put"; cells: Cell[] }
  | { kind: "remove"; cells: Cell[] }
  | { kind: "checkpoint" }
  | { kind: "delta" }
  | { kind: "settle" };

const spec = fc
  .tuple(fc.constantFrom(...Object.keys(KEYS)), fc.boolean())
  .map(([type, nullable]) => column("k", type as "int", nullable));
const VALUES: Schema = [column("v", "int", false), column("t", "text"), column("n", "numeric", true, 2)];

const run = fc.array(spec, { minLength: 1, maxLength: 3 }).chain((keys) => {
  const key = fc.tuple(
    ...keys.map(({ type, nullable }) => fc.constantFrom(...(KEYS[type] ?? []), ...(nullable ? [null] : []))),
  );
  const cells = fc
    .tuple(key, CELLS.int, fc.option(fc.constantFrom("x", "y", "z")), fc.option(CELLS.numeric))
    .map(([k, ...values]) => [...k, ...values]);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: cells.map((each): Step => ({ kind: "put", cells: each })) },
    { weight: 4, arbitrary: cells.map((each): Step => ({ kind: "remove", cells: each })) },
    fc.constantFrom<Step>({ kind: "checkpoint" }, { kind: "delta" }, { kind: "settle" }),
  );
  return fc.tuple(
    fc.constant<Schema>([...keys, ...VALUES]),
    fc.constant(keys.length),
    fc.array(step, { maxLength: 60 }),
  );
});

function nameOf(cells: readonly Cell[], keys: number): string {
  return (
    JSON.stringify(cells.slice(0, keys).map((each) => (Object.is(each, -0) ? "0" : String(each)))) +
    cells.slice(0, keys).map((each) => typeof each)
  );
}

/** The first spelling of a key is kept: 0 and -0 are one key. */
function sorted(rows: Iterable<readonly Cell[]>, keys: number): string[] {
  return [...rows].map((row) => `${nameOf(row, keys)} ${row.slice(keys).map(String)}`).sort();
}

function all(table: KeyedTable): Cell[][] {
  return Array.from({ length: table.rows }, (_, row) => row)
    .filter((row) => table.isLive(row))
    .map((row) => table.cells(row));
}

test("a table holds what a Map holds, whatever is put and removed, and is restored from checkpoint and deltas", () => {
  fc.assert(
    fc.property(run, ([schema, keys, steps]) => {
      const table = new KeyedTable(schema, keys);
      const model = new Map<string, Cell[]>();
      let written: Buffer[] = [table.checkpoint()];
      let kept = new Map(model);
      for (const step of steps) {
        switch (step.kind) {
          case "put":
            table.put(step.cells);
            model.set(nameOf(step.cells, keys), step.cells);
            break;
          case "remove": {
            const row = table.lookUp(step.cells);
            assert.equal(row >= 0, model.delete(nameOf(step.cells, keys)));
            if (row >= 0) table.remove(row);
            break;
          }
          case "checkpoint":
            written = [table.checkpoint()];
            kept = new Map(model);
            break;
          case "delta":
            written.push(table.delta());
            kept = new Map(model);
            break;
          case "settle":
            table.settle();
        }
        assert.equal(table.size, model.size);
        for (const cells of model.values())
          assert.deepEqual(table.cells(table.lookUp(cells)).slice(keys), cells.slice(keys));
      }
      assert.deepEqual(sorted(all(table), keys), sorted(model.values(), keys));
      const restored = new KeyedTable(schema, keys);
      for (const bytes of written) restored.load(bytes);
      assert.deepEqual(sorted(all(restored), keys), sorted(kept.values(), keys));
    }),
    { numRuns: 500 },
  );
});

test("a table grows to many keys, finds each of them, and takes less than 100 bytes for one", () => {
  const table = new KeyedTable(
    [column("auction", "int", false), column("bidder", "text", false), column("price", "float")],
    2,
  );
  const COUNT = 100_000;
  for (let i = 0; i < COUNT; i++) table.put([i, `b${i % 100}`, i / 2]);
  for (let i = 0; i < COUNT; i += 7)
    assert.deepEqual(table.cells(table.lookUp([i, `b${i % 100}`])), [i, `b${i % 100}`, i / 2]);
  assert.equal(table.lookUp([1, "b2"]), -1);
  assert.ok(table.memoryBytes / COUNT < 100, `${table.memoryBytes / COUNT} bytes a key`);
});

test("a delta is as large as what changed, not as the table", () => {
  const table = new KeyedTable([column("k", "int", false), column("v", "int", false)], 1);
  for (let i = 0; i < 10_000; i++) table.put([i, 0]);
  table.checkpoint();
  for (let i = 0; i < 10; i++) table.put([i * 100, 1]);
  assert.ok(table.delta().length < 200);
  assert.ok(table.delta().length < 50);
});

test("texts that no row has any more are let go", () => {
  const table = new KeyedTable([column("k", "text", false)], 1);
  for (let i = 0; i < 1000; i++) {
    table.remove(table.put([`text ${i}`]));
    table.settle();
  }
  assert.equal(table.pool(0).size, 1);
  assert.equal(table.pool(0).memoryBytes, 0);
});
