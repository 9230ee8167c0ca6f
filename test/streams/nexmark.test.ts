import assert from "node:assert/strict";
import { test } from "node:test";
import { type Batch, numericText, type Scaled } from "#src/streams/columns/index.js";
import type { StandingQuery } from "#src/streams/operators/index.js";
import { type Batches, engineOf, standingOf } from "../../bench/nexmark/engine.js";
import {
  batchesOf,
  type Events,
  nexmarkEvents,
  outOfOrder,
  type TableName,
} from "../../bench/nexmark/events.js";
import { QUERIES } from "../../bench/nexmark/queries.js";

/** `HEADWATER_NEXMARK_EVENTS=100000` tries the length that the benchmark's own tests have. */
const COUNT = Number(process.env.HEADWATER_NEXMARK_EVENTS ?? 5000);
/** Slowly, so that few events have many windows. */
const EVENTS_PER_MS = 0.25;
const DISTANCE = 20;
/** Of fifty events one is a person: so long can a row of any stream be behind. */
const LATENESS_MS = (50 * DISTANCE) / EVENTS_PER_MS;

const inOrder = nexmarkEvents(COUNT, 7, EVENTS_PER_MS);
const shuffled = outOfOrder(inOrder, DISTANCE, 7);

function batches(events: Events, rows: number): Batches {
  const of = (table: TableName) => batchesOf(table, events, rows);
  return { person: of("person"), auction: of("auction"), bid: of("bid"), side_input: of("side_input") };
}

const given = { "in order": batches(inOrder, 1000), "out of order": batches(shuffled, 177) };

/** Exact decimals and doubles agree in ten digits. */
function shown(row: readonly unknown[]): string {
  return row
    .map((cell) =>
      typeof cell === "number" && !Number.isInteger(cell) ? cell.toPrecision(10) : String(cell),
    )
    .join();
}

/** Rows as they add up, each as often as its weight says. */
class Found {
  readonly #counts = new Map<string, number>();

  add(batch: Batch): void {
    for (let i = 0; i < batch.rows; i++) {
      const row = batch.row(i).map((cell, j) => {
        const spec = batch.schema[j];
        return spec?.type === "numeric" && cell !== null
          ? Number(numericText(cell as Scaled, spec.scale))
          : cell;
      });
      const name = shown(row);
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + batch.weight(i));
    }
  }

  get rows(): string[] {
    return [...this.#counts]
      .flatMap(([name, count]) => new Array<string>(Math.max(0, count)).fill(name))
      .sort();
  }
}

/** Every few rounds the query goes over into a fresh one by its checkpoint. */
function restarting(): (query: StandingQuery, start: () => StandingQuery) => StandingQuery {
  const parts = new Map<string, Uint8Array>();
  let rounds = 0;
  return (query, start) => {
    rounds++;
    if (rounds % 3 !== 0) return query;
    for (const [name, bytes] of query.checkpoint())
      if (bytes === null) parts.delete(name);
      else parts.set(name, Uint8Array.from(bytes));
    if (rounds % 6 !== 0) return query;
    const fresh = start();
    fresh.load(parts);
    return fresh;
  };
}

test("the events have the proportions of the benchmark, and the same seed gives the same", () => {
  assert.deepEqual(
    [inOrder.person.length, inOrder.auction.length, inOrder.bid.length],
    [COUNT / 50, (3 * COUNT) / 50, (46 * COUNT) / 50],
  );
  assert.deepEqual(nexmarkEvents(500, 7), nexmarkEvents(500, 7));
  assert.notDeepEqual(nexmarkEvents(500, 7), nexmarkEvents(500, 8));
  const auctions = new Set(inOrder.auction.map(({ id }) => id));
  assert.ok(inOrder.bid.every(({ auction }) => auctions.has(auction)));
});

test("there are all queries of the benchmark", () => {
  assert.deepEqual(
    Object.keys(QUERIES),
    Array.from({ length: 23 }, (_, number) => `q${number}`),
  );
});

for (const [name, { sql, byHand, isWindowed }] of Object.entries(QUERIES)) {
  const expected: string[] = [];
  byHand(inOrder, (row) => expected.push(shown(row)));
  expected.sort();
  for (const [order, input] of Object.entries(given)) {
    test(`${name} answers what a loop over the rows answers, ${order}`, async () => {
      const found = new Found();
      const run = await engineOf(sql);
      run(input, (batch) => found.add(batch));
      assert.ok(expected.length > 0);
      assert.deepEqual(found.rows, expected);
    });
    for (const emit of isWindowed === true
      ? (["changes", "on window close"] as const)
      : (["changes"] as const))
      test(`${name} standing, with EMIT ${emit}, adds up to the same across restarts, ${order}`, async () => {
        const found = new Found();
        const run = await standingOf(sql, { emit, latenessMs: LATENESS_MS, between: restarting() });
        run(input, (batch) => found.add(batch));
        assert.deepEqual(found.rows, expected);
      });
  }
}
