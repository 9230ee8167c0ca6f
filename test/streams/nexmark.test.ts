import assert from "node:assert/strict";
import { test } from "node:test";
import { numericText, type Scaled } from "#src/streams/columns/index.js";
import { engineOf } from "../../bench/nexmark/engine.js";
import { batchesOf, type Events, nexmarkEvents, outOfOrder } from "../../bench/nexmark/events.js";
import { QUERIES } from "../../bench/nexmark/queries.js";

const COUNT = 100_000;
const inOrder = nexmarkEvents(COUNT, 7);
const shuffled = outOfOrder(inOrder, 500, 7);

function batches(events: Events, rows: number) {
  return {
    person: batchesOf("person", events, rows),
    auction: batchesOf("auction", events, rows),
    bid: batchesOf("bid", events, rows),
  };
}

const given = { "in order": batches(inOrder, 1000), "out of order": batches(shuffled, 777) };

/** Exact decimals and doubles agree in ten digits. */
function shown(row: readonly unknown[]): string {
  return row
    .map((cell) =>
      typeof cell === "number" && !Number.isInteger(cell) ? cell.toPrecision(10) : String(cell),
    )
    .join();
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

for (const [name, { sql, byHand }] of Object.entries(QUERIES)) {
  const expected: string[] = [];
  byHand(inOrder, (row) => expected.push(shown(row)));
  expected.sort();
  for (const [order, input] of Object.entries(given))
    test(`${name} answers what a loop over the rows answers, ${order}`, async () => {
      const found: string[] = [];
      const run = await engineOf(sql);
      run(input, (batch) => {
        for (let i = 0; i < batch.rows; i++) {
          const row = batch.row(i).map((cell, j) => {
            const spec = batch.schema[j];
            return spec?.type === "numeric" && cell !== null
              ? Number(numericText(cell as Scaled, spec.scale))
              : cell;
          });
          found.push(shown(row));
        }
      });
      assert.ok(expected.length > 0);
      assert.deepEqual(found.sort(), expected);
    });
}
