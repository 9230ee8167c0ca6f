import { Context, readonly, tracked } from "headwater";

/** A shop with shelves, for tests that look at it. */
export class Shelf extends Context<number> {
  items = tracked.map<string, number>();
  note = "";

  put(item: string, count: number) {
    this.items.set(item, count);
    return this.items.size;
  }

  fail(): void {
    throw new RangeError("the shelf is full");
  }
}

export class Till extends Context {
  cents = 0n;

  take(cents: number) {
    this.cents += BigInt(cents);
  }
}

export default class Shop extends Context {
  shelves = this.children(Shelf);
  till = this.child(Till);
  names = new Set<string>();

  name(name: string) {
    this.names.add(name);
  }

  @readonly count() {
    return this.names.size;
  }
}
