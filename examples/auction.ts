import { Context, expose, outside, type ProgramIo, readonly, type Service, type TimerId } from "headwater";
import { type Changes, column, Queries, query, stream, table, view } from "headwater/queries";

/**
 * An auction house, written as one process that does one thing at a time. Contexts keep what must be right: which bid is the highest,
 * when an auction closes, who may bid. Standing queries beside them keep the leaderboards and watch for fraud. A bid is one event
 * through both: it is refused, or it is in the auction, in the leaderboards and in the fraud rules at the same ticket.
 */

const { int, text, timestamp } = column;

const definitions = {
  listings: table({ auction: text, seller: text }, "auction"),
  bids: stream({ auction: text, bidder: text, price: int, at: timestamp }, { time: "at" }),
  sales: stream({ auction: text, bidder: text, price: int }),

  /** The three highest bids of each auction. */
  leaders: view(
    { auction: text, place: int, bidder: text, price: int },
    `SELECT auction, place, bidder, price
       FROM (SELECT auction, bidder, price, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS place
               FROM bids) AS ranked
      WHERE place <= 3`,
  ),
  /** The ten who have spent the most. */
  spenders: view(
    { bidder: text, spent: int.nullable, won: int },
    `SELECT bidder, sum(price)::bigint AS spent, count(*) AS won
       FROM sales GROUP BY bidder ORDER BY spent DESC, bidder LIMIT 10`,
  ),

  /** Sellers who bid for what they sell. */
  shills: query(
    { bidder: text, auction: text },
    `SELECT b.bidder, b.auction FROM bids b JOIN listings FOR SYSTEM_TIME AS OF PROCTIME() AS l
         ON l.auction = b.auction AND l.seller = b.bidder
     WITH (coordination = 'order', reason = 'a bid meets the listing that was there before it')`,
  ),
  /** More than five bids of one bidder within ten seconds. */
  rushes: query(
    { bidder: text, bids: int },
    `SELECT bidder, count(*) AS bids FROM TUMBLE(bids, at, INTERVAL '10' SECOND)
      GROUP BY bidder, window_start, window_end HAVING count(*) > 5 EMIT CHANGES`,
  ),
};

export class Market extends Queries(definitions) {
  /** What a fraud rule finds starts an event on the bidder, once, with the commit of the bid. */
  protected override changed({ shills = [], rushes = [] }: Changes<typeof definitions>) {
    const { bidders } = this.above(AuctionHouse);
    for (const { weight, row } of shills)
      if (weight > 0) this.event.start(bidders(row.bidder)).suspend(`bid for an own auction, ${row.auction}`);
    for (const { weight, row } of rushes)
      if (weight > 0) this.event.start(bidders(row.bidder)).suspend(`${row.bids} bids in ten seconds`);
  }
}

interface Mail {
  readonly to: string;
  readonly text: string;
}

/** How mail leaves. It may be attempted twice for one mail, always with the same key. */
export const post = {
  deliver: async ({ to, text: words }: Mail, _key: string): Promise<void> => {
    process.stderr.write(`mail to ${to}: ${words}\n`);
  },
};

const mail = outside("auction.mail", (given: Mail, { key }) => post.deliver(given, key));

/** What callers did wrong: they hear of it, and nothing has changed. */
class Refused extends Error {
  override readonly name = "Refused";
}

export class Bidder extends Context<string> {
  suspendedFor: string | null = null;

  suspend(reason: string) {
    if (this.suspendedFor !== null) return;
    this.suspendedFor = reason;
    this.write(`you are suspended: ${reason}`);
  }

  write(words: string) {
    this.event.outside(mail, { to: this.key, text: words });
  }

  @readonly status() {
    return this.suspendedFor;
  }
}

/** A bid this close to the end puts the end off, so that others can answer it. */
const LAST_MS = 10_000;

export class Auction extends Context<string> {
  state: "none" | "open" | "closed" = "none";
  best: { readonly bidder: string; readonly price: number } | null = null;
  endsMs = 0;
  timer: TimerId | null = null;

  open(lastsMs: number) {
    if (this.state !== "none") throw new Refused(`there is an auction ${this.key} already`);
    this.state = "open";
    this.closeAt(this.event.time + lastsMs);
  }

  /** Takes a bid; returns who is outbid by it. */
  bid(bidder: string, price: number) {
    if (this.state !== "open") throw new Refused(`the auction ${this.key} is not open`);
    const { best } = this;
    if (best !== null && price <= best.price)
      throw new Refused(`${best.price} was bid for ${this.key} already`);
    this.best = { bidder, price };
    if (this.endsMs - this.event.time < LAST_MS) this.closeAt(this.event.time + LAST_MS);
    return best?.bidder;
  }

  /** Returns the sale, if there is one. */
  close() {
    const isSold = this.state === "open";
    this.state = "closed";
    return isSold ? this.best : null;
  }

  @readonly shown() {
    return { state: this.state, best: this.best, endsMs: this.endsMs };
  }

  private closeAt(endsMs: number) {
    if (this.timer !== null) this.event.cancel(this.timer);
    this.endsMs = endsMs;
    this.timer = this.event.after(endsMs - this.event.time, this.above(AuctionHouse)).close(this.key);
  }
}

export default class AuctionHouse extends Context {
  market = this.child(Market);
  auctions = this.children(Auction);
  bidders = this.children(Bidder);

  async open(auction: string, seller: string, lastsMs: number) {
    await this.auctions(auction).open(lastsMs);
    await this.market.pushListings({ auction, seller });
  }

  async bid(auction: string, bidder: string, price: number) {
    const reason = await this.bidders(bidder).status();
    if (reason !== null) throw new Refused(`${bidder} is suspended: ${reason}`);
    const outbid = await this.auctions(auction).bid(bidder, price);
    await this.market.pushBids({ auction, bidder, price, at: this.event.time });
    if (outbid !== undefined && outbid !== bidder)
      await this.bidders(outbid).write(`${price} was bid for ${auction}`);
  }

  /** The timer's event: the sale, the leaderboard of spenders and the mail are one commit. */
  async close(auction: string) {
    const best = await this.auctions(auction).close();
    if (best === null) return;
    await this.market.pushSales({ auction, ...best });
    await this.bidders(best.bidder).write(`${auction} is yours for ${best.price}`);
  }

  /** An auction and its leaders as of one ticket. */
  @readonly async auction(name: string) {
    return {
      ...(await this.auctions(name).shown()),
      leaders: await this.market.readLeaders({ key: [name] }),
    };
  }

  @readonly async spenders() {
    const rows = await this.market.readSpenders();
    return rows.sort((a, b) => (b.spent ?? 0) - (a.spent ?? 0));
  }
}

/** Nobody outside is bound by the types. */
function checked(...args: unknown[]) {
  if (args.some((arg) => typeof arg !== "string" && !(Number.isSafeInteger(arg) && Number(arg) > 0)))
    throw new TypeError("names are texts, prices and times are whole numbers above 0");
}

/** What callers may ask for with `headwater run examples/auction --port 8080`. */
export const api = expose(AuctionHouse, {
  open: {
    check: checked,
    request: (house, auction: string, seller: string, lastsMs: number) =>
      house.open(auction, seller, lastsMs),
  },
  bid: {
    check: checked,
    request: (house, auction: string, bidder: string, price: number) => house.bid(auction, bidder, price),
  },
  auction: { check: checked, request: (house, name: string) => house.auction(name) },
  spenders: (house) => house.spenders(),
  rushes: (house, from: number) => house.market.followRushes(from),
});

/** A short evening: three bidders, one of them in a rush. */
export async function main({ root: house, idle }: Service<AuctionHouse>, io: ProgramIo) {
  const name = `vase ${Date.now()}`;
  await house.open(name, "sam", 600_000);
  const bid = async (bidder: string, price: number) => {
    const refusal = await house.bid(name, bidder, price).then(
      () => null,
      (error: Error) => error.message,
    );
    if (refusal !== null) io.print(`${bidder} bids ${price}, but ${refusal}`);
  };
  await bid("ada", 100);
  await bid("ben", 110);
  await bid("ada", 105);
  for (let price = 120; price < 200; price += 10) {
    await bid("mallory", price);
    await idle(); // the event that a fraud rule starts comes after the bid that it found
  }
  await bid("sam", 300);
  await bid("ben", 310);
  await idle();
  const { leaders } = await house.auction(name);
  io.print(
    `leading: ${leaders.map(({ place, bidder, price }) => `${place}. ${bidder} ${price}`).join(", ")}`,
  );
  await bid("sam", 400);
  await house.close(name);
  io.print(`spent: ${(await house.spenders()).map(({ bidder, spent }) => `${bidder} ${spent}`).join(", ")}`);
}
