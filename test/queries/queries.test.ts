import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, MemoryJournal, readonly, run } from "headwater";
import {
  type Changes,
  column,
  type Definitions,
  Queries,
  query,
  stream,
  table,
  view,
} from "headwater/queries";
import { refused, refusedAtOnce } from "../refused.js";

const { int, text, timestamp } = column;

const bids = stream({ item: text, price: int, note: text.nullable });
const tops = view(
  { item: text, best: int.nullable },
  "SELECT item, max(price) AS best FROM bids GROUP BY item",
);

class Market extends Queries({
  bids,
  tops,
  big_bids: query({ item: text }, "SELECT item FROM bids WHERE price > 9"),
}) {}

class House extends Context {
  market = this.child(Market);

  async bid(item: string, price: number) {
    await this.market.pushBids({ item, price });
    return await this.market.readTops({ key: [item] });
  }

  @readonly async top(item: string) {
    const [row] = await this.market.readTops({ key: [item] });
    return row?.best;
  }
}

test("an event that pushes a row reads its effect on a view, and a read-only method reads it later", async () => {
  await using service = await run(House);
  const { root } = service;
  assert.equal(await root.top("vase"), undefined, "a view that nothing was pushed for has no rows");
  assert.deepEqual(await root.bid("vase", 5), [{ item: "vase", best: 5 }]);
  assert.deepEqual(await root.bid("lamp", 50), [{ item: "lamp", best: 50 }]);
  assert.equal(await root.top("vase"), 5);
  assert.deepEqual(await root.market.readTops({ from: ["m"], limit: 5 }), [{ item: "vase", best: 5 }]);
  assert.deepEqual(await root.market.followBigBids(), {
    rows: [{ number: 1, weight: 1, row: { item: "lamp" } }],
    next: 2,
    topic: "House.market/big_bids",
  });
});

test("a row that does not fit is refused with what is wrong, and nothing is pushed", async () => {
  await using service = await run(House);
  const { market } = service.root;
  const fits = { item: "vase", price: 1 };
  // @ts-expect-error a price is a number
  await refused(market.pushBids(fits, { item: "vase", price: "much" }), "HW-5302", "row 2", '"bids"', "much");
  // @ts-expect-error a row has an item
  await refused(market.pushBids({ price: 1 }), "HW-5302", '"item" is missing');
  // @ts-expect-error there is no such column
  await refused(market.pushBids({ ...fits, prize: 1 }), "HW-5302", '"prize"');
  await refused(market.readTops({ key: ["vase", 1, 2] }), "HW-5410", "(item)");
  await refused(market.followBigBids(0), "HW-5462", "begin with 1");
  assert.deepEqual(await market.readTops(), []);
  // @ts-expect-error only tables and views are read
  assert.throws(() => market.readBids());
});

test("definitions are checked when the class is declared: SQL, names, and the columns that TypeScript is told of", () => {
  const declared = (definitions: Definitions) => () => Queries(definitions);
  const sql = "SELECT item, max(price) AS best FROM bids GROUP BY item";
  refusedAtOnce(declared({ bids, v: view({ item: text }, sql) }), "HW-5460", '"v"', "(item, best)");
  refusedAtOnce(
    declared({ bids, v: view({ n: text }, "SELECT max(note) AS n FROM bids") }),
    "HW-5460",
    "can be NULL",
  );
  refusedAtOnce(declared({ bids, v: view({ item: text, best: text }, sql) }), "HW-5460", "gives int");
  refusedAtOnce(declared({ bids, v: view({ x: int }, "SELECT x FROM bids") }), "HW-5103", '"v"', "x");
  refusedAtOnce(declared({ v: tops, bids }), "HW-5103", "bids");
  refusedAtOnce(declared({ Bids: bids }), "HW-5403", "Bids");
  refusedAtOnce(declared({ t: table({ n: int }) }), "HW-5403", "primary key");
});

test("a query whose answers depend on the order of rows is refused until it says what to do about it", () => {
  const sql = "SELECT item FROM bids GROUP BY item HAVING count(*) < 3";
  const declared = (definitions: Definitions) => () => Queries(definitions);
  const rare = (more: string) => declared({ bids, rare: query({ item: text }, `${sql} ${more}`) });
  refusedAtOnce(
    rare(""),
    "HW-5451",
    '"rare"',
    "depend on the order",
    "EMIT CHANGES",
    "coordination = 'order'",
  );
  refusedAtOnce(rare("WITH (coordination = 'seal')"), "HW-5451", '"rare"');
  refusedAtOnce(rare("WITH (coordination = 'accept')"), "HW-5451", "written reason");
  refusedAtOnce(rare("WITH (partitions = 2)"), "HW-5403", "partitions");
  rare("EMIT CHANGES")();
  rare("WITH (coordination = 'order')")();
  rare("WITH (coordination = 'accept', reason = 'a first guess')")();
  declared({ bids, rare: view({ item: text }, sql) })();
  // What reads rows that were taken as the order gave them needs its own word, a view does not.
  const below = { bids, rare: query({ item: text }, `${sql} WITH (coordination = 'order')`) };
  const all = query({ item: text, n: column.int }, "SELECT item, count(*) AS n FROM rare GROUP BY item");
  refusedAtOnce(declared({ ...below, all }), "HW-5451", '"all"');
  declared({ ...below, all: view(all.columns, all.sql) })();
});

test("a new version of a program may add, change and remove queries, and add columns: they begin with what is retained", async () => {
  const journal = new MemoryJournal();
  const first = () => {
    class Shelf extends Queries({
      bids,
      people: table({ name: text, town: text }, "name"),
      tops,
      gone: view({ item: text }, "SELECT item FROM bids"),
      big: query({ item: text }, "SELECT item FROM bids WHERE price > 9"),
    }) {}
    return class Shop extends Context {
      shelf = this.child(Shelf);
    };
  };
  const one = await run(first(), { journal });
  await one.root.shelf.pushBids({ item: "vase", price: 5 }, { item: "lamp", price: 50 });
  await one.root.shelf.pushPeople({ name: "ann", town: "Ulm" });
  await one.stop();

  const second = () => {
    class Shelf extends Queries({
      bids: stream({ item: text, price: int, note: text.nullable, who: text.nullable }),
      people: table({ name: text, age: int.nullable, town: text }, "name"),
      tops: view({ item: text, n: int }, "SELECT item, count(*) AS n FROM bids GROUP BY item"),
      whose: view({ who: text.nullable, n: int }, "SELECT who, count(*) AS n FROM bids GROUP BY who"),
      big: query({ item: text }, "SELECT item FROM bids WHERE price > 9"),
    }) {}
    return class Shop extends Context {
      shelf = this.child(Shelf);
    };
  };
  const two = await run(second(), { journal });
  const { shelf } = two.root;
  // Read before anything is pushed, by methods that cannot change anything.
  assert.deepEqual(await shelf.readTops(), [
    { item: "lamp", n: 1 },
    { item: "vase", n: 1 },
  ]);
  assert.deepEqual(await shelf.readPeople(), [{ name: "ann", age: null, town: "Ulm" }]);
  await shelf.pushBids({ item: "vase", price: 70, who: "ann" });
  const seen = {
    whose: await shelf.readWhose(),
    big: (await shelf.followBig(1)).rows,
    tops: await shelf.readTops(),
  };
  assert.deepEqual(seen, {
    whose: [
      { who: "ann", n: 1 },
      { who: null, n: 2 },
    ],
    big: [
      { number: 1, weight: 1, row: { item: "lamp" } },
      { number: 2, weight: 1, row: { item: "vase" } },
    ],
    tops: [
      { item: "lamp", n: 1 },
      { item: "vase", n: 2 },
    ],
  });
  await two.stop();
  const again = await run(second(), { journal });
  assert.deepEqual(await again.root.shelf.readWhose(), seen.whose);
  assert.deepEqual((await again.root.shelf.followBig(1)).rows, seen.big);
  await again.stop();

  const third = () => {
    class Shelf extends Queries({ bids: stream({ item: text, price: text }) }) {}
    return class Shop extends Context {
      shelf = this.child(Shelf);
    };
  };
  const three = await run(third(), { journal });
  await refused(three.root.shelf.pushBids({ item: "x", price: "y" }), "HW-5461", '"bids"', '"price" was int');
  await three.stop();
  const four = await run(second(), { journal });
  assert.deepEqual(await four.root.shelf.readWhose(), seen.whose, "what was refused has changed nothing");
  await four.stop();
});

const visits = {
  visits: stream({ page: text, at: timestamp }, { time: "at", idleMs: 1 }),
  per_minute: query(
    { page: text, n: int },
    "SELECT page, count(*) AS n FROM TUMBLE(visits, at, INTERVAL '1' MINUTE) GROUP BY page, window_start, window_end EMIT ON WINDOW CLOSE",
  ),
};

class Visits extends Queries(visits) {
  closed: string[] = [];

  protected override changed({ perMinute = [] }: Changes<typeof visits>) {
    for (const { row } of perMinute) this.closed.push(`${row.page}: ${row.n}`);
  }

  @readonly all() {
    return this.closed;
  }
}

class Site extends Context {
  visits = this.child(Visits);
}

test("a window closes when later rows come, and its result is handed on in the event that closed it", async () => {
  await using service = await run(Site);
  const { visits: own } = service.root;
  await own.pushVisits({ page: "a", at: 0 }, { page: "a", at: 59_999 });
  assert.deepEqual(await own.all(), []);
  await own.pushVisits({ page: "b", at: 60_000 });
  assert.deepEqual(await own.all(), ["a: 2"]);
});
