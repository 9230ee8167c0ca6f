import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal } from "headwater";
import { openStreams } from "headwater/streams";
import { Random } from "#src/random.js";
import { refused } from "../refused.js";

/**
 * Two streams whose seals name the same partitions: of the same columns under other names and in another order. The model
 * knows which rows each has, which producers have sealed what, and what the queries answer for a whole partition.
 */
const ORDERS =
  "CREATE STREAM orders (area text NOT NULL, day bigint NOT NULL, n bigint NOT NULL) WITH (seal = 'area, day', producers = 'a, b')";
const RETURNS =
  "CREATE STREAM returned (date bigint NOT NULL, region text NOT NULL, n bigint NOT NULL) WITH (seal = 'date, region', producers = 'c, d')";
const KEPT = `SELECT o.area, o.day, o.n FROM orders o
  WHERE NOT EXISTS (SELECT FROM returned r WHERE r.region = o.area AND r.date = o.day AND r.n = o.n)`;
const RARE = `SELECT area, day, n FROM (
    SELECT area, day, n FROM orders UNION ALL SELECT region, date, n FROM returned
  ) x GROUP BY area, day, n HAVING count(*) < 2`;

const AREAS = ["x", "y"] as const;
const STEPS = 60;

interface Row {
  readonly area: string;
  readonly day: number;
  readonly n: number;
}

class Model {
  readonly #rows: Record<"orders" | "returned", Row[]> = { orders: [], returned: [] };
  readonly #sealed = new Map<string, Set<string>>();

  isOpen(producer: string, area: string, day: number): boolean {
    return this.#sealed.get(`${area} ${day}`)?.has(producer) !== true;
  }

  push(stream: "orders" | "returned", row: Row): void {
    this.#rows[stream].push(row);
  }

  seal(producer: string, area: string, day: number): void {
    const name = `${area} ${day}`;
    this.#sealed.set(name, (this.#sealed.get(name) ?? new Set()).add(producer));
  }

  get complete(): number {
    return [...this.#sealed.values()].filter(({ size }) => size === 4).length;
  }

  answers(): { readonly kept: string[]; readonly rare: string[] } {
    const kept: string[] = [];
    const rare: string[] = [];
    for (const [name, by] of this.#sealed) {
      if (by.size < 4) continue;
      const own = (rows: readonly Row[]) => rows.filter(({ area, day }) => `${area} ${day}` === name);
      const [orders, returned] = [own(this.#rows.orders), own(this.#rows.returned)];
      kept.push(...orders.filter(({ n }) => !returned.some((each) => each.n === n)).map(shown));
      const all = [...orders, ...returned];
      rare.push(...all.filter(({ n }) => all.filter((each) => each.n === n).length < 2).map(shown));
    }
    return { kept: kept.sort(), rare: rare.sort() };
  }
}

function shown({ area, day, n }: Row): string {
  return JSON.stringify([area, day, n]);
}

test("a join and a union of two sealed streams answer once for each partition that both have sealed, over restarts", async () => {
  let complete = 0;
  for (let seed = 1; seed <= 6; seed++) {
    const random = new Random(seed);
    const journal = new MemoryJournal();
    let streams = await openStreams({ journal });
    for (const definition of [ORDERS, RETURNS]) await streams.define(definition);
    await streams.registerQuery("kept", KEPT);
    await streams.registerQuery("rare", RARE);
    const model = new Model();
    for (let step = 0; step < STEPS; step++) {
      if (random.chance(0.06)) {
        await streams.service.close();
        streams = await openStreams({ journal });
      }
      const producer = random.pick(["a", "b", "c", "d"]);
      const stream = producer === "a" || producer === "b" ? "orders" : "returned";
      const [area, day] = [random.pick(AREAS), Math.floor(step / 20) + random.int(2)];
      if (!model.isOpen(producer, area, day)) continue;
      const rows = Array.from({ length: random.int(4) }, (): Row => ({ area, day, n: random.int(4) }));
      const isSealed = random.chance(0.4);
      const named = stream === "orders" ? [area, day] : [day, area];
      const sent = stream === "orders" ? rows : rows.map(({ n }) => ({ date: day, region: area, n }));
      await streams.pushEvents(stream, sent, { producer, ...(isSealed ? { seals: [named] } : {}) });
      for (const row of rows) model.push(stream, row);
      if (isSealed) model.seal(producer, area, day);
    }
    for (const area of AREAS)
      for (const day of [0, 1, 2, 3])
        for (const producer of ["a", "b", "c", "d"]) {
          if (!model.isOpen(producer, area, day) || random.chance(0.15)) continue;
          const isOrder = producer === "a" || producer === "b";
          const seals = [isOrder ? [area, day] : [day, area]];
          await streams.pushEvents(isOrder ? "orders" : "returned", [], { producer, seals });
          model.seal(producer, area, day);
        }
    const answers = async (name: string) => {
      const { rows } = await streams.page(name, 1);
      assert.ok(
        rows.every(({ weight }) => weight === 1),
        "nothing is taken back",
      );
      return rows.map(({ json }) => shown(JSON.parse(json) as Row)).sort();
    };
    const expected = model.answers();
    assert.deepEqual(await answers("kept"), expected.kept, `seed ${seed}`);
    assert.deepEqual(await answers("rare"), expected.rare, `seed ${seed}`);
    complete += model.complete;
    await streams.service.close();
  }
  assert.ok(complete > 10, `${complete} partitions were complete`);
});

test("a stream that all producers have finished holds no partition back, and readers wait for all streams", async (t) => {
  const streams = await openStreams();
  t.after(() => streams.service.close());
  for (const definition of [ORDERS, RETURNS]) await streams.define(definition);
  await streams.registerQuery("kept", KEPT);
  const seals = [["x", 1]];
  const row = { area: "x", day: 1, n: 7 };
  await streams.pushEvents("orders", [row], { producer: "a", seals });
  await streams.pushEvents("orders", [], { producer: "b", seals });
  await refused(streams.sealed("kept", ["x", 1]), "HW-5412", '"returned" has not begun', "c, d");
  for (const producer of ["c", "d"]) await streams.seal("returned", producer);
  await streams.sealed("kept", ["x", 1]);
  const { rows } = await streams.page("kept", 1);
  assert.deepEqual(
    rows.map(({ json }) => JSON.parse(json)),
    [row],
  );
  // A partition that one stream had released before the query was there has no answer of its own.
  const more = await openStreams();
  t.after(() => more.service.close());
  for (const definition of [ORDERS, RETURNS]) await more.define(definition);
  for (const producer of ["a", "b"]) await more.pushEvents("orders", [row], { producer, seals });
  await more.registerQuery("kept", KEPT);
  const date = { date: 1, region: "x", n: 1 };
  for (const producer of ["c", "d"])
    await more.pushEvents("returned", [date], { producer, seals: [[1, "x"]] });
  assert.deepEqual((await more.page("kept", 1)).rows, []);
  const [error] = (await more.page("kept.errors", 1)).rows;
  assert.match(error?.json ?? "", /was sealed when that of another input/);
});

test("EXPLAIN names the seals of all inputs; where one input is not sealed, or other rows meet, the query is refused with what to do", async (t) => {
  const streams = await openStreams();
  t.after(() => streams.service.close());
  for (const definition of [ORDERS, RETURNS]) await streams.define(definition);
  await streams.define("CREATE STREAM open (region text NOT NULL, date bigint NOT NULL, n bigint NOT NULL)");
  const text = await streams.explain(KEPT);
  assert.match(text, /Label {2}Async/);
  assert.match(
    text,
    /until the producers of all inputs have sealed it: orders by area, day and returned by region, date\n {2}by the producers a, b of orders\n {2}by the producers c, d of returned/,
  );
  const mixed = KEPT.replace("FROM orders", "FROM open")
    .replaceAll("o.area", "o.region")
    .replaceAll("o.day", "o.date");
  await refused(streams.registerQuery("mixed", mixed), "HW-5451", '"open", whose producers seal none');
  const unsealed = KEPT.replace("FROM returned", "FROM open");
  await refused(streams.registerQuery("unsealed", unsealed), "HW-5451", "depend on the order");
  const crossed = KEPT.replace("r.date = o.day", "r.date = o.n");
  await refused(streams.registerQuery("crossed", crossed), "HW-5451");
  await streams.registerQuery("mixed", `${mixed} WITH (coordination = 'order', state_retention = 'forever')`);
});
