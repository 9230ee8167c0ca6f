import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run, tracked } from "headwater";
import { type Changes, column, Queries, query, stream, view } from "headwater/queries";
import { Random } from "#src/random.js";
import { Groups } from "./groups.js";

const { int, text } = column;

const big = query({ item: text, price: int }, "SELECT item, price FROM bids WHERE price >= 50");

/** Two versions of one program, whose classes have the same names. */
function versions() {
  const older = {
    bids: stream({ item: text, price: int }),
    tops: view({ item: text, top: int }, "SELECT item, max(price) AS top FROM bids GROUP BY item"),
    big,
    many: query(
      { item: text, n: int },
      "SELECT item, count(*) AS n FROM bids GROUP BY item HAVING count(*) > 2 EMIT CHANGES",
    ),
  };
  const newer = {
    bids: stream({ item: text, note: text.nullable, price: int }),
    sums: view(
      { item: text, top: int.nullable },
      "SELECT item, sum(price)::bigint AS top FROM bids GROUP BY item",
    ),
    big,
  };
  const first = () => {
    class Shelf extends Queries(older, { checkpointBytes: 1200 }) {
      heard = tracked.list<number>();

      protected override changed({ big: found = [] }: Changes<typeof older>) {
        for (const { number } of found) this.heard.push(number);
      }

      @readonly shown() {
        return [...this.heard];
      }
    }
    return class Shop extends Context {
      shelf = this.child(Shelf);
      pushed = tracked.list<[item: string, price: number]>();

      async push(item: string, price: number) {
        this.pushed.push([item, price]);
        await this.shelf.pushBids({ item, price });
      }

      @readonly async look() {
        return {
          pushed: [...this.pushed],
          rows: await this.shelf.readTops(),
          heard: await this.shelf.shown(),
        };
      }
    };
  };
  const second = () => {
    class Shelf extends Queries(newer, { checkpointBytes: 1200 }) {
      heard = tracked.list<number>();

      protected override changed({ big: found = [] }: Changes<typeof newer>) {
        for (const { number } of found) this.heard.push(number);
      }

      @readonly shown() {
        return [...this.heard];
      }
    }
    return class Shop extends Context {
      shelf = this.child(Shelf);
      pushed = tracked.list<[item: string, price: number]>();

      async push(item: string, price: number) {
        this.pushed.push([item, price]);
        await this.shelf.pushBids({ item, price });
      }

      @readonly async look() {
        return {
          pushed: [...this.pushed],
          rows: await this.shelf.readSums(),
          heard: await this.shelf.shown(),
        };
      }
    };
  };
  return [
    { start: (journal: Groups) => run(first(), { journal }), fold: Math.max },
    { start: (journal: Groups) => run(second(), { journal }), fold: (a: number, b: number) => a + b },
  ] as const;
}

test("versions of a program follow each other over crashes: views are those of all rows, results have each number once", async () => {
  for (let seed = 0; seed < 5; seed++) {
    const random = new Random(seed);
    let journal = new Groups();
    for (let life = 0; life < 9; life++) {
      const { start, fold } = random.pick(versions());
      const service = await start(journal);
      const check = async () => {
        const { pushed, rows, heard } = await service.root.look();
        const expected = new Map<string, number>();
        for (const [item, price] of pushed) expected.set(item, fold(expected.get(item) ?? 0, price));
        const where = `seed ${seed}, life ${life}`;
        assert.deepEqual(new Map(rows.map(({ item, top }) => [item, top])), expected, where);
        const count = pushed.filter(([, price]) => price >= 50).length;
        assert.deepEqual(
          heard,
          Array.from({ length: count }, (_, i) => i + 1),
          where,
        );
        const { rows: followed } = await service.root.shelf.followBig(1);
        assert.deepEqual(
          followed.map(({ number, row }) => [number, row.item, row.price]),
          pushed.filter(([, price]) => price >= 50).map(([item, price], i) => [i + 1, item, price]),
          where,
        );
      };
      if (random.chance(0.5)) await check(); // before anything is written in this life
      for (let i = random.int(8); i > 0; i--)
        await Promise.all(
          Array.from({ length: 1 + random.int(3) }, () =>
            service.root.push(random.pick(["vase", "lamp", "tie"]), random.int(100)),
          ),
        );
      await check();
      await service.stop();
      const { length } = journal.groups;
      journal = journal.first(random.chance(0.5) ? length : length - random.int(Math.min(length, 6)));
    }
  }
});
