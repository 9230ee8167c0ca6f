import { Context, readonly, tracked } from "headwater";
import { block, spin } from "./work.js";

/** The program of the benches about hosts: contexts of several kinds, each below the root, so that hashing spreads them. */
export class Counter extends Context<number> {
  count = 0;

  bump(work: number): number {
    spin(work);
    return ++this.count;
  }
}

/** A context of any size: a bucket of a key-value store. */
export class Bucket extends Context<number> {
  entries = tracked.map<string, string>();
  touched = 0;

  put(key: string, value: string): void {
    this.entries.set(key, value);
  }

  @readonly get(key: string): string | undefined {
    return this.entries.get(key);
  }

  /** So many entries of that many characters at once. */
  fill(from: number, count: number, characters: number): void {
    for (let i = from; i < from + count; i++) this.entries.set(`key ${i}`, textOf(i, characters));
  }

  touch(): number {
    return ++this.touched;
  }

  @readonly size(): number {
    return this.entries.size;
  }
}

class Place extends Context<number> {
  players = 0;

  enter(ms: number): void {
    block(ms);
    this.players += 1;
  }

  leave(ms: number): void {
    block(ms);
    this.players -= 1;
  }
}

/** The game of the paper: a player goes from one room of a building to another in one event. */
export class Building extends Context<number> {
  rooms = this.children(Place);

  async go(from: number, to: number, ms: number): Promise<void> {
    this.downgrade();
    await this.rooms(from).leave(ms / 2);
    await this.rooms(to).enter(ms / 2);
  }
}

export default class Town extends Context {
  counters = this.children(Counter);
  buckets = this.children(Bucket);
  buildings = this.children(Building);
}

/** A text of that length that is no other entry's. */
export function textOf(number: number, characters: number): string {
  return `${number} `.padEnd(characters, `${number.toString(36)}.`);
}
