import { Random } from "#src/random.js";
import { Batch, type Cell, column, type Schema } from "#src/streams/columns/index.js";

/**
 * The events of Nexmark, an auction house: of fifty events one is a new person, three are new auctions and forty-six are bids.
 * Proportions, fields and skew (hot auctions, bidders, sellers and channels) are those of the published generator; the same
 * seed gives the same events. 10,000 events make a second of event time.
 */
export interface Person {
  readonly id: number;
  readonly name: string;
  readonly email_address: string;
  readonly credit_card: string;
  readonly city: string;
  readonly state: string;
  readonly date_time: number;
  readonly extra: string;
}

export interface Auction {
  readonly id: number;
  readonly item_name: string;
  readonly description: string;
  readonly initial_bid: number;
  readonly reserve: number;
  readonly date_time: number;
  readonly expires: number;
  readonly seller: number;
  readonly category: number;
  readonly extra: string;
}

export interface Bid {
  readonly auction: number;
  readonly bidder: number;
  readonly price: number;
  readonly channel: string;
  readonly url: string;
  readonly date_time: number;
  readonly extra: string;
}

/** The table that query 13 looks bids up in. */
export interface SideInput {
  readonly key: number;
  readonly value: string;
}

export interface Events {
  readonly person: readonly Person[];
  readonly auction: readonly Auction[];
  readonly bid: readonly Bid[];
  readonly side_input: readonly SideInput[];
}

export type TableName = keyof Events;

const must = (name: string, type: Schema[number]["type"]) => column(name, type, false);

export const SCHEMAS: Readonly<Record<TableName, Schema>> = {
  person: [
    must("id", "int"),
    ...["name", "email_address", "credit_card", "city", "state"].map((name) => must(name, "text")),
    must("date_time", "timestamp"),
    must("extra", "text"),
  ],
  auction: [
    must("id", "int"),
    must("item_name", "text"),
    must("description", "text"),
    must("initial_bid", "int"),
    must("reserve", "int"),
    must("date_time", "timestamp"),
    must("expires", "timestamp"),
    must("seller", "int"),
    must("category", "int"),
    must("extra", "text"),
  ],
  bid: [
    must("auction", "int"),
    must("bidder", "int"),
    must("price", "int"),
    must("channel", "text"),
    must("url", "text"),
    must("date_time", "timestamp"),
    must("extra", "text"),
  ],
  side_input: [must("key", "int"), must("value", "text")],
};

const BASE_MS = Date.UTC(2015, 6, 15);
const EVENTS_PER_MS = 10;
const SIDE_ROWS = 1000;
const FIRST_ID = 1000;
const FIRST_CATEGORY = 10;
const CATEGORIES = 5;
const CHANNELS = 10_000;
const HOT_CHANNELS = ["Google", "Facebook", "Baidu", "Apple"] as const;
const STATES = ["AZ", "CA", "ID", "OR", "WA", "WY"] as const;
const CITIES = [
  "Phoenix",
  "Los Angeles",
  "San Francisco",
  "Boise",
  "Portland",
  "Bend",
  "Redmond",
  "Seattle",
  "Kent",
  "Cheyenne",
] as const;
const FIRST_NAMES = [
  "Peter",
  "Paul",
  "Luke",
  "John",
  "Saul",
  "Vicky",
  "Kate",
  "Julie",
  "Sarah",
  "Deiter",
  "Walter",
] as const;
const LAST_NAMES = [
  "Shultz",
  "Abrams",
  "Spencer",
  "White",
  "Bartels",
  "Walton",
  "Smith",
  "Jones",
  "Noris",
] as const;

/** With fewer events per millisecond, few events have many windows. */
export function nexmarkEvents(count: number, seed = 1, eventsPerMs = EVENTS_PER_MS): Events {
  const random = new Random(seed);
  const events = {
    ...{ person: [] as Person[], auction: [] as Auction[], bid: [] as Bid[] },
    side_input: Array.from({ length: SIDE_ROWS }, (_, key) => ({ key, value: `value-${key % 7}` })),
  };
  for (let n = 0; n < count; n++) {
    const place = n % 50;
    const time = BASE_MS + Math.floor(n / eventsPerMs);
    // The newest person and auction so far.
    const epoch = Math.floor(n / 50);
    const people = epoch + 1;
    const auctions = epoch * 3 + Math.min(Math.max(place, 0), 3);
    if (place === 0) events.person.push(person(random, FIRST_ID + epoch, time));
    else if (place <= 3) events.auction.push(auction(random, FIRST_ID + auctions - 1, people, time));
    else events.bid.push(bid(random, auctions, people, time));
  }
  return events;
}

function person(random: Random, id: number, date_time: number): Person {
  const name = `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;
  const digits = () => String(random.int(10_000)).padStart(4, "0");
  return {
    ...{ id, name, email_address: `${word(random, 7)}@${word(random, 5)}.com` },
    credit_card: `${digits()} ${digits()} ${digits()} ${digits()}`,
    ...{ city: random.pick(CITIES), state: random.pick(STATES), date_time, extra: word(random, 60) },
  };
}

/** Sellers are hot in three of four cases: one in a hundred of the newest people. */
function auction(random: Random, id: number, people: number, date_time: number): Auction {
  const initial_bid = price(random);
  const seller = random.chance(0.75) ? Math.floor((people - 1) / 100) * 100 : recent(random, people, 1000);
  return {
    ...{
      id,
      item_name: word(random, 20),
      description: word(random, 100),
      initial_bid,
      reserve: initial_bid + price(random),
    },
    ...{ date_time, expires: date_time + 1 + random.int(2000), seller: FIRST_ID + seller },
    ...{ category: FIRST_CATEGORY + random.int(CATEGORIES), extra: word(random, 40) },
  };
}

/** Half of the bids are for the hot auction, three of four by the hot bidder, half through one of four channels. */
function bid(random: Random, auctions: number, people: number, date_time: number): Bid {
  const target = random.chance(0.5) ? Math.floor((auctions - 1) / 100) * 100 : recent(random, auctions, 100);
  const bidder = random.chance(0.75)
    ? Math.floor((people - 1) / 100) * 100 + 1
    : recent(random, people, 1000);
  const number = random.int(CHANNELS);
  const channel = random.chance(0.5) ? random.pick(HOT_CHANNELS) : `channel-${number}`;
  const path = `${word(random, 5)}/${word(random, 5)}/${word(random, 5)}`;
  const url = `https://www.nexmark.com/${path}/item.htm?query=1${channel.startsWith("c") ? `&channel_id=${number}` : ""}`;
  return {
    auction: FIRST_ID + target,
    bidder: FIRST_ID + bidder,
    price: price(random),
    channel,
    url,
    date_time,
    extra: word(random, 50),
  };
}

function recent(random: Random, count: number, among: number): number {
  return Math.max(0, count - 1 - random.int(Math.min(count, among)));
}

function price(random: Random): number {
  return Math.round(10 ** ((random.int(1 << 20) / (1 << 20)) * 6) * 100);
}

/** Letters, and now and then a space. */
function word(random: Random, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) {
    const letter = random.int(30);
    text += letter < 26 ? String.fromCharCode(97 + letter) : " ";
  }
  return text;
}

/** The same events with neighbours out of order: each row up to `distance` places from where it was. */
export function outOfOrder(events: Events, distance: number, seed = 1): Events {
  const random = new Random(seed);
  const shuffled = <T>(rows: readonly T[]): T[] =>
    rows
      .map((row, i) => ({ row, place: i + random.int(distance) }))
      .sort((a, b) => a.place - b.place)
      .map(({ row }) => row);
  return {
    person: shuffled(events.person),
    auction: shuffled(events.auction),
    bid: shuffled(events.bid),
    side_input: events.side_input,
  };
}

/** The rows of a table as batches of columns. */
export function batchesOf<T extends TableName>(table: T, events: Events, rows: number): Batch[] {
  const schema = SCHEMAS[table];
  const all: readonly object[] = events[table];
  const batches: Batch[] = [];
  for (let at = 0; at < all.length; at += rows) {
    const part = all.slice(at, at + rows);
    const batch = Batch.of(
      schema,
      part.map((row) => schema.map(({ name }) => Reflect.get(row, name) as Cell)),
    );
    batches.push(batch);
  }
  return batches;
}
