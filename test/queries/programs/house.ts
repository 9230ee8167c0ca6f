import { Context, readonly, tracked } from "headwater";
import { type Changes, column, Queries, query, stream, table, view } from "headwater/queries";

const { int, text, float } = column;

/** The text of each view, for the oracle. */
export const VIEWS = {
  tops: "SELECT item, max(price) AS best, count(*) AS n, sum(w) AS w FROM bids GROUP BY item",
  towns: "SELECT p.town, count(*) AS n FROM bids b JOIN people p ON p.name = b.who GROUP BY p.town",
  leaders:
    "SELECT item, who, price, id FROM (SELECT item, who, price, id, row_number() OVER (PARTITION BY item ORDER BY price DESC, id) AS place FROM bids) AS ranked WHERE place <= 2",
  taps: "SELECT item, count(*) AS n, sum(w) AS w FROM clicks GROUP BY item",
} as const;

const definitions = {
  bids: stream({ item: text, who: text, price: int, w: float.nullable, id: text }),
  clicks: stream({ item: text, w: float }),
  people: table({ name: text, town: text }, "name"),
  all_bids: view(
    { item: text, who: text, price: int, w: float.nullable, id: text },
    "SELECT item, who, price, w, id FROM bids",
  ),
  tops: view({ item: text, best: int.nullable, n: int, w: float.nullable }, VIEWS.tops),
  towns: view({ town: text, n: int }, `${VIEWS.towns} WITH (state_retention = 'forever')`),
  leaders: view({ item: text, who: text, price: int, id: text }, VIEWS.leaders),
  taps: view({ item: text, n: int, w: float.nullable }, VIEWS.taps),
  big: query({ who: text, id: text }, "SELECT who, id FROM bids WHERE price >= 90"),
  eager: query(
    { who: text, n: int },
    "SELECT who, count(*) AS n FROM bids GROUP BY who HAVING count(*) >= 3 EMIT CHANGES",
  ),
};

export type Bid = Readonly<{ item: string; who: string; price: number; w: number | null; id: string }>;

/** Checkpoints are due often. */
export class Market extends Queries(definitions, { checkpointBytes: 1500 }) {
  protected override changed({ big = [], eager = [] }: Changes<typeof definitions>) {
    const house = this.above(House);
    for (const { number, row } of big) this.event.start(house.people(row.who)).ring(number);
    for (const { number, weight, row } of eager)
      this.event.start(house.people(row.who)).count(number, weight, row.n);
  }
}

/** Who bids: what results have started here. */
export class Person extends Context<string> {
  rings: number[] = [];
  counts: [number: number, weight: number, n: number][] = [];

  ring(number: number) {
    this.rings.push(number);
  }

  count(number: number, weight: number, n: number) {
    this.counts.push([number, weight, n]);
  }

  @readonly heard() {
    return { rings: this.rings, counts: this.counts };
  }
}

/** Beside the market: it cannot call it, and pushes once it has committed. */
export class Stall extends Context<string> {
  sent: string[] = [];

  offer(bid: Bid, isFailing: boolean) {
    this.sent.push(bid.id);
    this.event.start(this.above(House).market).pushBids(bid);
    if (isFailing) throw new RangeError("changed my mind");
  }

  @readonly all() {
    return this.sent;
  }
}

export default class House extends Context {
  market = this.child(Market);
  people = this.children(Person);
  stalls = this.children(Stall);
  /** What was pushed from here, in the order of the events. */
  bids = tracked.list<string>();
  clicks = tracked.list<[item: string, w: number]>();
  towns = tracked.map<string, string>();

  async bid(...bids: Bid[]) {
    for (const { id } of bids) this.bids.push(id);
    await this.market.pushBids(...bids);
  }

  async fail(bid: Bid) {
    await this.market.pushBids(bid);
    await this.market.pushClicks({ item: bid.item, w: 1 });
    throw new RangeError("not like that");
  }

  /** The push is done, then undone with the call that failed below. */
  async caught(bid: Bid) {
    await this.market.pushBids({ ...bid, price: "much" as unknown as number }).catch(() => {});
    this.bids.push(bid.id);
    await this.market.pushBids(bid);
  }

  async click(item: string, w: number) {
    this.clicks.push([item, w]);
    await this.market.pushClicks({ item, w });
  }

  async live(name: string, town: string) {
    this.towns.set(name, town);
    await this.market.pushPeople({ name, town });
  }

  /** All that can be read, as of one ticket. */
  @readonly async look() {
    return {
      bids: [...this.bids],
      clicks: [...this.clicks],
      people: [...this.towns],
      stored: await this.market.readPeople(),
      allBids: await this.market.readAllBids(),
      tops: await this.market.readTops(),
      towns: await this.market.readTowns(),
      leaders: await this.market.readLeaders(),
      taps: await this.market.readTaps(),
    };
  }
}
