import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "#src/random.js";
import { Batch, type Cell, column, type Schema } from "#src/streams/columns/index.js";
import { type StandingQuery, standingQuery } from "#src/streams/operators/index.js";
import type { InputSpec } from "#src/streams/plan/index.js";
import { planDefinition } from "#src/streams/sql/index.js";

const ORDERS: Schema = [
  column("id", "int", false),
  column("currency", "text", true),
  column("amount", "int", false),
  column("at", "timestamp", true),
];
const RATES: Schema = [
  column("code", "text", false),
  column("rate", "int", false),
  column("since", "timestamp", false),
];
const TABLES = { orders: ORDERS, rates: RATES };
const VERSIONS = { orders: { time: 3, key: [] }, rates: { time: 2, key: [0] } };
const INPUTS: Readonly<Record<string, InputSpec>> = {
  orders: { schema: ORDERS, timeColumn: 3, kind: "stream", key: [] },
  rates: { schema: RATES, timeColumn: 2, kind: "table", key: [0] },
};

type Row = readonly Cell[];

async function planOf(sql: string) {
  const defined = await planDefinition(sql, TABLES, VERSIONS);
  assert.ok("plan" in defined);
  return defined.plan;
}

const sqlOf = (join: string, where = "") =>
  `select o.id, o.amount, r.rate from orders o ${join} rates for system_time as of o.at as r on o.currency = r.code${where}`;

/** Each order with the latest rate of its currency that is not later: what the query means, by its definition. */
function answers(orders: readonly Row[], rates: readonly Row[], isLeft: boolean): string[] {
  return orders
    .flatMap(([id, currency, amount, at]) => {
      const own = rates.filter(
        ([code, , since]) =>
          currency !== null && at !== null && code === currency && Number(since) <= Number(at),
      );
      own.sort((a, b) => Number(a[2]) - Number(b[2]) || Number(a[1]) - Number(b[1]));
      const last = own.at(-1);
      if (last === undefined && !isLeft) return [];
      return [JSON.stringify([id, amount, last?.[1] ?? null])];
    })
    .sort();
}

/** Rows in the order of their times, or each up to some places off. */
function inOrder(random: Random, rows: readonly Row[], time: number, distance: number): Row[] {
  return rows
    .map((row) => ({ row, place: Number(row[time]) + random.int(distance + 1) }))
    .sort((a, b) => a.place - b.place)
    .map(({ row }) => row);
}

interface Run {
  readonly join: string;
  readonly distance: number;
  readonly restarts: boolean;
}

async function run(random: Random, { join, distance, restarts }: Run): Promise<void> {
  const plan = await planOf(sqlOf(join));
  const orders: Row[] = Array.from({ length: 60 }, (_, id) => [
    id,
    random.chance(0.1) ? null : random.pick(["EUR", "USD", "GBP", "CHF"]),
    random.int(3),
    random.chance(0.05) ? null : random.int(200),
  ]);
  const rates: Row[] = Array.from({ length: 40 }, () => [
    random.pick(["EUR", "USD", "GBP"]),
    random.int(50),
    random.int(200),
  ]);
  const results: Row[] = [];
  const start = () =>
    standingQuery(
      plan,
      { emit: "changes", inputs: INPUTS },
      {
        rows: (batch) => {
          for (let row = 0; row < batch.rows; row++) {
            assert.equal(batch.weight(row), 1, "nothing is taken back");
            results.push(batch.row(row));
          }
        },
        watermark: () => {},
      },
    );
  let query: StandingQuery = start();
  const parts = new Map<string, Uint8Array>();
  const sides = {
    orders: { rows: inOrder(random, orders, 3, distance), time: 3, schema: ORDERS, greatest: 0 },
    rates: { rows: inOrder(random, rates, 2, distance), time: 2, schema: RATES, greatest: 0 },
  };
  while (sides.orders.rows.length + sides.rates.rows.length > 0) {
    for (const name of ["orders", "rates"] as const) {
      const side = sides[name];
      const batch = side.rows.splice(0, random.int(12));
      query.push(name, Batch.of(side.schema, batch));
      for (const row of batch) side.greatest = Math.max(side.greatest, Number(row[side.time]));
    }
    query.flush();
    for (const name of ["orders", "rates"] as const) query.watermark(name, sides[name].greatest - distance);
    query.flush();
    if (!restarts || random.chance(0.5)) continue;
    for (const [name, bytes] of query.checkpoint())
      if (bytes === null) parts.delete(name);
      else parts.set(name, Buffer.from(bytes));
    query = start();
    query.load(parts);
  }
  for (const name of ["orders", "rates"] as const) query.watermark(name, 10_000);
  query.flush();
  assert.equal(query.late.count, 0);
  assert.deepEqual(query.errors.first, null);
  assert.deepEqual(
    results.map((row) => JSON.stringify(row)).sort(),
    answers(orders, rates, join === "left join"),
  );
}

for (const join of ["join", "left join"])
  for (const distance of [0, 20])
    test(`${join} as of event time meets the version of its time, with rows up to ${distance} ms out of order`, async () => {
      for (let seed = 1; seed <= 40; seed++)
        await run(new Random(seed), { join, distance, restarts: seed % 2 === 0 });
    });

/** A query that was given some rates and orders, whose results and late rows are looked at. */
async function begun(sql: string) {
  const results: Row[] = [];
  const query = standingQuery(
    await planOf(sql),
    { emit: "changes", inputs: INPUTS },
    {
      rows: (batch) => void results.push(...Array.from({ length: batch.rows }, (_, i) => batch.row(i))),
      watermark: () => {},
    },
  );
  const rates = (...rows: Row[]) => query.push("rates", Batch.of(RATES, rows));
  const orders = (...rows: Row[]) => query.push("orders", Batch.of(ORDERS, rows));
  const reach = (timeMs: number) => {
    query.flush();
    for (const name of ["orders", "rates"]) query.watermark(name, timeMs);
    query.flush();
    return results.splice(0);
  };
  return { query, rates, orders, reach };
}

test("a row waits for the watermarks of both sides, and a row behind them is late", async () => {
  const { query, rates, orders, reach } = await begun(sqlOf("join"));
  rates(["EUR", 1, 10]);
  orders([1, "EUR", 5, 20]);
  assert.deepEqual(reach(20), []);
  rates(["EUR", 2, 20]); // of the time of the row, and after it
  assert.deepEqual(reach(21), [[1, 5, 2]]);
  orders([2, "EUR", 6, 20]);
  assert.deepEqual(reach(30), []);
  assert.equal(query.late.count, 1);
});

test("WHERE asks the version that was found, and no older one takes its place", async () => {
  const { rates, orders, reach } = await begun(sqlOf("join", " where r.rate > 5"));
  rates(["EUR", 9, 10], ["EUR", 1, 20]);
  orders([1, "EUR", 5, 15], [2, "EUR", 5, 25]);
  assert.deepEqual(reach(100), [[1, 5, 9]]);
});

test("versions that nothing can meet any more are freed", async () => {
  const { query, rates, orders, reach } = await begun(sqlOf("join"));
  let least = 0;
  for (let time = 0; time < 20_000; time += 10) {
    rates(["EUR", time, time], [`only ${time % 70}`, 1, time]);
    orders([time, "EUR", 1, time], [time, `unknown ${time}`, 1, time]);
    reach(time);
    if (time === 2000) least = query.memoryBytes;
  }
  assert.ok(query.memoryBytes <= 2 * least, `${query.memoryBytes} bytes, and ${least} at the beginning`);
});

test("what has no versions, or does not say whose they are, is refused with its place", async () => {
  const refused = async (sql: string, what: RegExp) =>
    assert.rejects(planOf(sql), (error: Error) => {
      assert.match(error.message, what);
      assert.match(error.message, /\n.*\^/, "with a mark below the place");
      return true;
    });
  const from = "select o.id from orders o join";
  await refused(
    `${from} rates for system_time as of o.at as r on o.amount = r.rate`,
    /found by its key: ON has to compare code/,
  );
  await refused(
    `${from} rates for system_time as of o.amount as r on o.currency = r.code`,
    /takes a time, and amount/,
  );
  await refused(`${from} rates for system_time as of o.when as r on o.currency = r.code`, /when/);
  await refused(
    `${from} rates for system_time as of later() as r on o.currency = r.code`,
    /takes a time column/,
  );
  await refused(
    "select o.id from orders o left join rates for system_time as of o.at as r on o.currency = r.code and r.rate > 3",
    /compares the key only/,
  );
  const defined = planDefinition(sqlOf("join"), TABLES);
  await assert.rejects(defined, /rates has no event time/);
});
