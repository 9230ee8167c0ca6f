import { Context, readonly, tracked } from "headwater";

/** Contexts that are given, keep and return as much as their callers ask for. */
class Box extends Context<number> {
  count = 0;
  content = "";
  entries = tracked.map<string, string>();

  put(value: string) {
    this.count += 1;
    this.content = value;
    return this.count;
  }

  make(bytes: number) {
    this.count += 1;
    return "m".repeat(bytes);
  }

  keep(bytes: number) {
    this.count += 1;
    this.content = "k".repeat(bytes);
    return this.count;
  }

  enter(key: string, bytes: number) {
    this.entries.set(key, "e".repeat(bytes));
    return this.entries.size;
  }

  startLater(bytes: number) {
    this.count += 1;
    this.event.start(this.above(Box)).put("s".repeat(bytes));
    return this.count;
  }

  @readonly seen() {
    return { count: this.count, length: this.content.length, entries: this.entries.size };
  }

  @readonly where() {
    return process.pid;
  }
}

export default class Parcels extends Context {
  boxes = this.children(Box);
  handed = 0;

  /** Catches whatever comes of it: what is too large fails the event nevertheless. */
  async hand(key: number, bytes: number) {
    this.handed += 1;
    try {
      return await this.boxes(key).put("h".repeat(bytes));
    } catch {
      return -1;
    }
  }

  async fetch(key: number, bytes: number) {
    this.handed += 1;
    try {
      return (await this.boxes(key).make(bytes)).length;
    } catch {
      return -1;
    }
  }

  @readonly total() {
    return this.handed;
  }
}
