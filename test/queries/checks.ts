import assert from "node:assert/strict";
import type { Service } from "headwater";
import type { Random } from "#src/random.js";
import { queryFunction, type Scalar } from "#src/sql/index.js";
import type House from "./programs/house.js";
import { type Bid, VIEWS } from "./programs/house.js";

export const ITEMS = ["vase", "lamp", "tie"];
export const PEOPLE = ["ann", "bob", "cleo", "dan"];
const TOWNS = ["Ulm", "Bonn"];

const SCHEMA = {
  bids: [
    { name: "item", type: "text", nullable: false },
    { name: "who", type: "text", nullable: false },
    { name: "price", type: "int8", nullable: false },
    { name: "w", type: "float8", nullable: true },
    { name: "id", type: "text", nullable: false },
  ],
  clicks: [
    { name: "item", type: "text", nullable: false },
    { name: "w", type: "float8", nullable: false },
  ],
  people: [
    { name: "name", type: "text", nullable: false },
    { name: "town", type: "text", nullable: false },
  ],
} as const;

export type Looked = Awaited<ReturnType<Service<House>["root"]["look"]>>;

function sorted(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** One look is one ticket: the views are what the evaluator makes of the rows that the house and the market know of then. */
export async function checkLook(looked: Looked): Promise<void> {
  const { bids, clicks, people, allBids, stored } = looked;
  const inMarket = new Set(allBids.map(({ id }) => id));
  assert.equal(inMarket.size, allBids.length, "no row is there twice");
  assert.deepEqual(
    bids.filter((id) => !inMarket.has(id)),
    [],
    "what the house has pushed is there in the same event",
  );
  assert.equal(new Set(bids).size, bids.length);
  assert.deepEqual(sorted(stored.map(({ name, town }) => [name, town])), sorted(people));
  const tables = {
    bids: allBids,
    clicks: clicks.map(([item, w]) => ({ item, w })),
    people: people.map(([name, town]) => ({ name, town })),
  };
  for (const [name, sql] of Object.entries(VIEWS)) {
    const answer = await queryFunction(sql, SCHEMA);
    const seen = looked[name as keyof typeof VIEWS].map((row) => Object.values(row));
    const expected = answer(tables as Readonly<Record<string, readonly Readonly<Record<string, Scalar>>[]>>);
    assert.deepEqual(sorted(seen), sorted(expected), name);
  }
}

/** When nothing is under way any more: each result has started its event once, in order, and each push of a stall is there. */
export async function checkSettled({ root }: Service<House>): Promise<Looked> {
  const looked = await root.look();
  await checkLook(looked);
  const ids = new Set(looked.allBids.map(({ id }) => id));
  const stalls = (await Promise.all(ITEMS.map((item) => root.stalls(item).all()))).flat();
  assert.deepEqual([...ids].sort(), [...looked.bids, ...stalls].sort());
  const [big, eager] = [await root.market.followBig(1), await root.market.followEager(1)];
  const expected = looked.allBids.filter(({ price }) => price >= 90).map(({ who, id }) => [who, id]);
  assert.deepEqual(sorted(big.rows.map(({ row }) => [row.who, row.id])), sorted(expected));
  for (const who of PEOPLE) {
    const heard = await root.people(who).heard();
    assert.deepEqual(
      heard.rings,
      big.rows.filter(({ row }) => row.who === who).map(({ number }) => number),
      `${who} has heard of each big bid once, in order`,
    );
    assert.deepEqual(
      heard.counts,
      eager.rows
        .filter(({ row }) => row.who === who)
        .map(({ number, weight, row }) => [number, weight, row.n]),
      `${who} has heard of each change of the count once, in order`,
    );
    const own = looked.allBids.filter((bid) => bid.who === who).length;
    const sum = heard.counts.reduce((total, [, weight, n]) => total + weight * n, 0);
    assert.equal(sum, own >= 3 ? own : 0);
  }
  for (const { rows } of [big, eager])
    assert.deepEqual(
      rows.map(({ number }) => number),
      rows.map((_, i) => i + 1),
    );
  return looked;
}

export function randomBid(random: Random, id: string): Bid {
  return {
    item: random.pick(ITEMS),
    who: random.pick(PEOPLE),
    price: random.int(100),
    w: random.chance(0.2) ? null : random.int(40) / 4,
    id,
  };
}

/** Asks for one random thing; resolves to the ids that are in the market for certain then. */
export async function ask({ root }: Service<House>, random: Random, id: string): Promise<string[]> {
  const bid = randomBid(random, id);
  switch (random.int(10)) {
    case 0:
      await assert.rejects(root.fail(bid), RangeError);
      return [];
    case 1:
      await root.caught(bid);
      return [id];
    case 2:
      await root.live(bid.who, random.pick(TOWNS));
      return [];
    case 3:
    case 4:
      await root.click(bid.item, (bid.w ?? 1) + 0.25);
      return [];
    case 5:
      await root.stalls(bid.item).offer(bid, false);
      return [];
    case 6:
      await assert.rejects(root.stalls(bid.item).offer(bid, true), RangeError);
      return [];
    case 7:
      await root.bid(bid, randomBid(random, `${id}+`));
      return [id, `${id}+`];
    default:
      await root.bid(bid);
      return [id];
  }
}
