import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Context,
  type Kept,
  type ReadonlyTrackedMap,
  reads,
  type TrackedList,
  type TrackedMap,
  type TrackedSet,
  tracked,
} from "headwater";

/** What tracked collections take and give, checked by the compiler; nothing here is run. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const equal = <A, B>(_: Equal<A, B>): void => {};

interface Order {
  lines: { item: string; count: number }[];
  at: Date;
}
class Money {
  constructor(readonly cents: number) {}
  plus(other: Money) {
    return new Money(this.cents + other.cents);
  }
}

class Shop extends Context {
  orders = tracked.map<string, Order>();
  seen = tracked.set<number>();
  paid = tracked.list<Money>();
  names = tracked.map<string, number>([["ada", 1]]);
  plain = new Map<string, number>();

  use(order: Order) {
    equal<typeof this.orders, TrackedMap<string, Order>>(true);
    equal<typeof this.seen, TrackedSet<number>>(true);
    equal<typeof this.paid, TrackedList<Money>>(true);
    equal<typeof this.names, TrackedMap<string, number>>(true);
    this.orders.set("a", order);
    const kept = this.orders.get("a");
    if (kept === undefined) return;
    equal<typeof kept, Kept<Order>>(true);
    equal<typeof kept.at, Date>(true);
    // @ts-expect-error what is kept is frozen
    kept.at = new Date();
    // @ts-expect-error and so is what is in it
    kept.lines.push({ item: "x", count: 1 });
    this.orders.set("b", kept);
    this.orders.set("a", { ...kept, lines: [...kept.lines, { item: "x", count: 1 }] });
    // @ts-expect-error values have a type
    this.orders.set("a", 5);
    // @ts-expect-error so have keys
    this.orders.set(5, order);
    equal<ReturnType<typeof this.paid.at>, Money | undefined>(true);
    // @ts-expect-error a list has no fields by number
    void this.paid[0];
    for (const [key, { lines }] of this.orders) {
      equal<typeof key, string>(true);
      equal<(typeof lines)[number]["count"], number>(true);
    }
  }
}

class Till extends Context {
  // @ts-expect-error an object cannot be a key
  byObject = tracked.map<{ id: number }, number>();
  // @ts-expect-error nor an item of a set
  objects = tracked.set<{ id: number }>();

  @reads(Shop)
  look() {
    const shop = this.event.read(Shop);
    equal<typeof shop.orders, ReadonlyTrackedMap<string, Order>>(true);
    equal<typeof shop.plain, ReadonlyMap<string, number>>(true);
    // @ts-expect-error a view is there to be looked at
    shop.orders.delete("a");
    // @ts-expect-error so is that of a list
    shop.paid.push(new Money(1));
    // @ts-expect-error and that of a set
    shop.seen.add(1);
  }
}

test("tracked collections are typed", () => {
  for (const check of [Shop, Till]) assert.equal(typeof check, "function");
});
