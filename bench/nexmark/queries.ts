import type { Bid, Events } from "./events.js";
import { at, DAY, floor, type NexmarkQuery, SECOND } from "./query.js";
import { ROW_QUERIES } from "./row-queries.js";
import { TOP_QUERIES } from "./top-queries.js";

const isCheap = (price: number) => price < 10_000;
const isMiddling = (price: number) => price >= 10_000 && price < 1_000_000;
const CHEAP = "case when price < 10000 then";
const MIDDLING = "case when price >= 10000 and price < 1000000 then";
const DEAR = "case when price >= 1000000 then";

/** Nexmark's counts by rank of price: how many bids, bidders and auctions, of all ranks and of each. */
const RANKS = `count(*), count(${CHEAP} 1 end), count(${MIDDLING} 1 end), count(${DEAR} 1 end),
  count(distinct bidder), count(distinct ${CHEAP} bidder end), count(distinct ${MIDDLING} bidder end), count(distinct ${DEAR} bidder end),
  count(distinct auction), count(distinct ${CHEAP} auction end), count(distinct ${MIDDLING} auction end), count(distinct ${DEAR} auction end)`;

class Ranks {
  readonly #counts = [0, 0, 0, 0];
  readonly #bidders = [0, 1, 2, 3].map(() => new Set<number>());
  readonly #auctions = [0, 1, 2, 3].map(() => new Set<number>());

  add({ price, bidder, auction }: Bid): void {
    const rank = isCheap(price) ? 1 : isMiddling(price) ? 2 : 3;
    for (const i of [0, rank]) {
      this.#counts[i] = (this.#counts[i] ?? 0) + 1;
      this.#bidders[i]?.add(bidder);
      this.#auctions[i]?.add(auction);
    }
  }

  get row(): number[] {
    return [
      ...this.#counts,
      ...this.#bidders.map(({ size }) => size),
      ...this.#auctions.map(({ size }) => size),
    ];
  }
}

const HOP_COUNTS = `select auction, count(*) as num, window_start, window_end
  from hop(bid, date_time, interval '2 seconds', interval '10 seconds') group by auction, window_start, window_end`;

function hopCounts(events: Events): Map<number, Map<number, number>> {
  const windows = new Map<number, Map<number, number>>();
  for (const { auction, date_time } of events.bid)
    for (let start = floor(date_time, 2 * SECOND); start > date_time - 10 * SECOND; start -= 2 * SECOND) {
      const counts = at(windows, start, () => new Map<number, number>());
      counts.set(auction, (counts.get(auction) ?? 0) + 1);
    }
  return windows;
}

const GROUP_QUERIES: Readonly<Record<string, NexmarkQuery>> = {
  q0: {
    sql: "select auction, bidder, price, date_time, extra from bid",
    byHand: ({ bid }, emit) => {
      for (const { auction, bidder, price, date_time, extra } of bid)
        emit([auction, bidder, price, date_time, extra]);
    },
  },
  q1: {
    sql: "select auction, bidder, 0.908 * price as price, date_time, extra from bid",
    byHand: ({ bid }, emit) => {
      for (const { auction, bidder, price, date_time, extra } of bid)
        emit([auction, bidder, (908 * price) / 1000, date_time, extra]);
    },
  },
  q2: {
    sql: "select auction, price from bid where auction % 123 = 0",
    byHand: ({ bid }, emit) => {
      for (const { auction, price } of bid) if (auction % 123 === 0) emit([auction, price]);
    },
  },
  q3: {
    sql: `select p.name, p.city, p.state, a.id from auction a join person p on a.seller = p.id
      where a.category = 10 and (p.state = 'OR' or p.state = 'ID' or p.state = 'CA')`,
    byHand: ({ auction, person }, emit) => {
      const people = new Map(person.map((each) => [each.id, each]));
      for (const { id, seller, category } of auction) {
        const p = category === 10 ? people.get(seller) : undefined;
        if (p !== undefined && (p.state === "OR" || p.state === "ID" || p.state === "CA"))
          emit([p.name, p.city, p.state, id]);
      }
    },
  },
  q4: {
    sql: `select category, avg(final) from (
        select max(b.price) as final, a.category from auction a, bid b
        where a.id = b.auction and b.date_time between a.date_time and a.expires group by a.id, a.category
      ) t group by category`,
    byHand: ({ auction, bid }, emit) => {
      const auctions = new Map(auction.map((each) => [each.id, each]));
      const finals = new Map<number, number>();
      for (const b of bid) {
        const a = auctions.get(b.auction);
        if (a === undefined || b.date_time < a.date_time || b.date_time > a.expires) continue;
        finals.set(a.id, Math.max(finals.get(a.id) ?? 0, b.price));
      }
      const sums = new Map<number, { sum: number; count: number }>();
      for (const [id, price] of finals) {
        const total = at(sums, auctions.get(id)?.category ?? 0, () => ({ sum: 0, count: 0 }));
        total.sum += price;
        total.count++;
      }
      for (const [category, { sum, count }] of sums) emit([category, sum / count]);
    },
  },
  q5: {
    isWindowed: true,
    sql: `select a.auction, a.num from (${HOP_COUNTS}) a
      join (select max(num) as most, window_start from (${HOP_COUNTS}) c group by window_start) m
      on a.window_start = m.window_start and a.num = m.most`,
    byHand: (events, emit) => {
      for (const counts of hopCounts(events).values()) {
        const most = Math.max(...counts.values());
        for (const [auction, count] of counts) if (count === most) emit([auction, count]);
      }
    },
  },
  q7: {
    isWindowed: true,
    sql: `select b.auction, b.price, b.bidder, b.date_time from bid b
      join (select max(price) as most, window_start, window_end from tumble(bid, date_time, interval '10 seconds') group by window_start, window_end) m
      on b.price = m.most and b.date_time >= m.window_start and b.date_time < m.window_end`,
    byHand: ({ bid }, emit) => {
      const most = new Map<number, number>();
      for (const { price, date_time } of bid) {
        const start = floor(date_time, 10 * SECOND);
        most.set(start, Math.max(most.get(start) ?? 0, price));
      }
      for (const { auction, price, bidder, date_time } of bid)
        if (most.get(floor(date_time, 10 * SECOND)) === price) emit([auction, price, bidder, date_time]);
    },
  },
  q8: {
    isWindowed: true,
    sql: `select p.id, p.name, p.window_start from
      (select id, name, window_start from tumble(person, date_time, interval '10 seconds') group by id, name, window_start) p
      join (select seller, window_start from tumble(auction, date_time, interval '10 seconds') group by seller, window_start) a
      on p.id = a.seller and p.window_start = a.window_start`,
    byHand: ({ person, auction }, emit) => {
      const sellers = new Map<number, Set<number>>();
      for (const { seller, date_time } of auction)
        at(sellers, floor(date_time, 10 * SECOND), () => new Set<number>()).add(seller);
      for (const { id, name, date_time } of person) {
        const start = floor(date_time, 10 * SECOND);
        if (sellers.get(start)?.has(id)) emit([id, name, start]);
      }
    },
  },
  q11: {
    isWindowed: true,
    sql: `select bidder, count(*), window_start, window_end from session(bid, date_time, bidder, interval '10 seconds')
      group by bidder, window_start, window_end`,
    byHand: ({ bid }, emit) => {
      const times = new Map<number, number[]>();
      for (const { bidder, date_time } of bid) at(times, bidder, () => [] as number[]).push(date_time);
      for (const [bidder, all] of times) {
        all.sort((a, b) => a - b);
        let [first, last, count] = [all[0] ?? 0, all[0] ?? 0, 0];
        for (const time of all) {
          if (time - last >= 10 * SECOND) {
            emit([bidder, count, first, last + 10 * SECOND]);
            [first, count] = [time, 0];
          }
          last = time;
          count++;
        }
        emit([bidder, count, first, last + 10 * SECOND]);
      }
    },
  },
  q12: {
    isWindowed: true,
    sql: `select bidder, count(*), window_start, window_end from tumble(bid, date_time, interval '10 seconds')
      group by bidder, window_start, window_end`,
    byHand: ({ bid }, emit) => {
      const windows = new Map<number, Map<number, number>>();
      for (const { bidder, date_time } of bid) {
        const counts = at(windows, floor(date_time, 10 * SECOND), () => new Map<number, number>());
        counts.set(bidder, (counts.get(bidder) ?? 0) + 1);
      }
      for (const [start, counts] of windows)
        for (const [bidder, count] of counts) emit([bidder, count, start, start + 10 * SECOND]);
    },
  },
  q15: {
    sql: `select date_trunc('day', date_time), ${RANKS} from bid group by 1`,
    byHand: ({ bid }, emit) => {
      const days = new Map<number, Ranks>();
      for (const each of bid) at(days, floor(each.date_time, DAY), () => new Ranks()).add(each);
      for (const [day, ranks] of days) emit([day, ...ranks.row]);
    },
  },
  q16: {
    sql: `select channel, date_trunc('day', date_time), ${RANKS} from bid group by 1, 2`,
    byHand: ({ bid }, emit) => {
      const channels = new Map<string, Map<number, Ranks>>();
      for (const each of bid)
        at(
          at(channels, each.channel, () => new Map<number, Ranks>()),
          floor(each.date_time, DAY),
          () => new Ranks(),
        ).add(each);
      for (const [channel, days] of channels)
        for (const [day, ranks] of days) emit([channel, day, ...ranks.row]);
    },
  },
  q17: {
    sql: `select auction, date_trunc('day', date_time), count(*), count(${CHEAP} 1 end), count(${MIDDLING} 1 end), count(${DEAR} 1 end),
      min(price), max(price), avg(price), sum(price) from bid group by 1, 2`,
    byHand: ({ bid }, emit) => {
      const groups = new Map<
        number,
        Map<number, { counts: [number, number, number]; min: number; max: number; sum: number }>
      >();
      for (const { auction, price, date_time } of bid) {
        const days = at(groups, auction, () => new Map());
        const group = at(days, floor(date_time, DAY), () => ({
          counts: [0, 0, 0],
          min: price,
          max: price,
          sum: 0,
        }));
        group.counts[isCheap(price) ? 0 : isMiddling(price) ? 1 : 2]++;
        group.min = Math.min(group.min, price);
        group.max = Math.max(group.max, price);
        group.sum += price;
      }
      for (const [auction, days] of groups)
        for (const [day, { counts, min, max, sum }] of days) {
          const count = counts[0] + counts[1] + counts[2];
          emit([auction, day, count, ...counts, min, max, sum / count, sum]);
        }
    },
  },
  q20: {
    sql: `select b.auction, b.bidder, b.price, b.channel, b.url, b.date_time, b.extra,
        a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category, a.extra
      from bid b join auction a on b.auction = a.id where a.category = 10`,
    byHand: ({ bid, auction }, emit) => {
      const auctions = new Map(
        auction.filter(({ category }) => category === 10).map((each) => [each.id, each]),
      );
      for (const b of bid) {
        const a = auctions.get(b.auction);
        if (a === undefined) continue;
        emit([
          ...[b.auction, b.bidder, b.price, b.channel, b.url, b.date_time, b.extra],
          ...[
            a.item_name,
            a.description,
            a.initial_bid,
            a.reserve,
            a.date_time,
            a.expires,
            a.seller,
            a.category,
            a.extra,
          ],
        ]);
      }
    },
  },
};

/** All of them, in the order of their numbers. */
export const QUERIES: Readonly<Record<string, NexmarkQuery>> = Object.fromEntries(
  Object.entries({ ...GROUP_QUERIES, ...ROW_QUERIES, ...TOP_QUERIES }).sort(
    ([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)),
  ),
);
