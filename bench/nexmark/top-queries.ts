import type { Auction, Bid, Events } from "./events.js";
import { at, type NexmarkQuery } from "./query.js";

/** Bids of an auction while it lasts, and which of them wins. */
const WINNING = `select a.id, a.item_name, a.seller, a.category, a.expires, b.auction, b.bidder, b.price, b.date_time as bid_time,
    row_number() over (partition by a.id order by b.price desc, b.date_time, b.url) as n
  from auction a join bid b on a.id = b.auction and b.date_time between a.date_time and a.expires`;

/** The better of two bids for an auction: the higher, then the earlier. */
function isBetter(a: Bid, b: Bid): boolean {
  if (a.price !== b.price) return a.price > b.price;
  return a.date_time !== b.date_time ? a.date_time < b.date_time : a.url < b.url;
}

function winners({ auction, bid }: Events): Map<Auction, Bid> {
  const auctions = new Map(auction.map((each) => [each.id, each]));
  const best = new Map<Auction, Bid>();
  for (const each of bid) {
    const a = auctions.get(each.auction);
    if (a === undefined || each.date_time < a.date_time || each.date_time > a.expires) continue;
    const known = best.get(a);
    if (known === undefined || isBetter(each, known)) best.set(a, each);
  }
  return best;
}

function byTime(a: { readonly expires: number; readonly id: number }, b: typeof a): number {
  return a.expires - b.expires || a.id - b.id;
}

/** Queries for the first rows of each group, or over the rows before each. */
export const TOP_QUERIES: Readonly<Record<string, NexmarkQuery>> = {
  q6: {
    sql: `select seller, id, avg(price) over (partition by seller order by expires, id rows between 10 preceding and current row) as average
      from (${WINNING}) w where n <= 1`,
    byHand: (events, emit) => {
      const sellers = new Map<
        number,
        { readonly id: number; readonly expires: number; readonly price: number }[]
      >();
      for (const [{ id, seller, expires }, { price }] of winners(events))
        at(sellers, seller, () => []).push({ id, expires, price });
      for (const [seller, sales] of sellers) {
        sales.sort(byTime);
        for (const [i, { id }] of sales.entries()) {
          const last = sales.slice(Math.max(0, i - 10), i + 1);
          emit([seller, id, last.reduce((sum, { price }) => sum + price, 0) / last.length]);
        }
      }
    },
  },
  q9: {
    sql: `select id, item_name, seller, category, auction, bidder, price, bid_time from (${WINNING}) w where n <= 1`,
    byHand: (events, emit) => {
      for (const [{ id, item_name, seller, category }, { auction, bidder, price, date_time }] of winners(
        events,
      ))
        emit([id, item_name, seller, category, auction, bidder, price, date_time]);
    },
  },
  q18: {
    sql: `select auction, bidder, price, channel, url, date_time, extra from (
        select *, row_number() over (partition by bidder, auction order by date_time desc, price desc, url) as n from bid) b where n <= 1`,
    byHand: ({ bid }, emit) => {
      const last = new Map<number, Map<number, Bid>>();
      for (const each of bid) {
        const auctions = at(last, each.bidder, () => new Map<number, Bid>());
        const known = auctions.get(each.auction);
        const isLater =
          known === undefined ||
          each.date_time > known.date_time ||
          (each.date_time === known.date_time &&
            (each.price > known.price || (each.price === known.price && each.url < known.url)));
        if (isLater) auctions.set(each.auction, each);
      }
      for (const auctions of last.values())
        for (const { auction, bidder, price, channel, url, date_time, extra } of auctions.values())
          emit([auction, bidder, price, channel, url, date_time, extra]);
    },
  },
  q19: {
    sql: `select auction, bidder, price, channel, url, date_time, extra, n from (
        select *, row_number() over (partition by auction order by price desc, date_time, url) as n from bid) b where n <= 10`,
    byHand: ({ bid }, emit) => {
      const auctions = new Map<number, Bid[]>();
      for (const each of bid) {
        const best = at(auctions, each.auction, () => [] as Bid[]);
        const worst = best[9];
        if (worst !== undefined && !isBetter(each, worst)) continue;
        let place = best.length;
        while (place > 0 && isBetter(each, best[place - 1] as Bid)) place--;
        best.splice(place, 0, each);
        if (best.length > 10) best.pop();
      }
      for (const best of auctions.values())
        for (const [i, { auction, bidder, price, channel, url, date_time, extra }] of best.entries())
          emit([auction, bidder, price, channel, url, date_time, extra, i + 1]);
    },
  },
};
