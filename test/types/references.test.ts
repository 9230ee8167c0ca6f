import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AnonymousContext,
  Context,
  type Elsewhere,
  type Later,
  type Ref,
  readonly,
  type View,
} from "headwater";

/**
 * These checks are the compiler's: a line under `@ts-expect-error` that compiles is itself an error. The
 * functions are never called.
 */

class Chair extends Context<readonly [row: number, seat: string]> {
  taken = false;
  async take(by: string): Promise<{ ok: boolean }> {
    this.taken = by !== "";
    return { ok: true };
  }
}
class Hall extends Context {
  lights = 0;
  switchOn(...which: number[]) {
    this.lights += which.length;
    return this.lights;
  }
  protected fuse() {}
}
class Adder extends AnonymousContext {
  add(a: number, b: number) {
    return a + b;
  }
}
class Theatre extends Context<string> {
  name = "globe";
  guests = new Map<string, number>();
  chairs = this.children(Chair);
  hall = this.child(Hall);
  adder = this.child(Adder);
  get size() {
    return this.guests.size;
  }
  @readonly seats(of?: string) {
    return of === undefined ? null : this.guests.get(of);
  }
}

class Money {
  constructor(readonly cents: number) {}
  plus(other: Money) {
    return new Money(this.cents + other.cents);
  }
}
interface Act {
  title: string;
  scenes: Act[];
}
class Play extends Context {
  acts: Act[] = [];
  cast = new Map<string, { lines: string[] }>();
  tags = new Set<string>();
  size: [number, number] = [1, 2];
  opened: { at: Date; by?: string | undefined } | null = null;
  price = new Money(1);
  bytes = new Uint8Array();
  anything: unknown = 1;
  isOpen = false;
}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const equal = <A, B>(_: Equal<A, B>): void => {};

function calls(theatre: Ref<Theatre>): void {
  equal<ReturnType<typeof theatre.seats>, Promise<number | null | undefined>>(true);
  const chair = theatre.chairs(1, "a");
  equal<ReturnType<typeof chair.take>, Promise<{ ok: boolean }>>(true);
  equal<ReturnType<typeof theatre.hall.switchOn>, Promise<number>>(true);
  theatre.hall.switchOn();
  theatre.hall.switchOn(1, 2, 3);
  theatre.adder.add(1, 2);
  theatre.seats();
  // @ts-expect-error an argument of the wrong type
  theatre.seats(3);
  // @ts-expect-error an argument too many
  theatre.adder.add(1, 2, 3);
  // @ts-expect-error an argument too few
  theatre.adder.add(1);
  // @ts-expect-error there is no such method
  theatre.close();
  // @ts-expect-error the result is a promise, not the value
  const wrong: number = theatre.hall.switchOn(1);
  void wrong;
}

function keys(theatre: Ref<Theatre>): void {
  theatre.chairs(1, "a");
  // @ts-expect-error the parts of the key are in the wrong order
  theatre.chairs("a", 1);
  // @ts-expect-error a part of the key is missing
  theatre.chairs(1);
  // @ts-expect-error a tuple key is given as arguments, not as an array
  theatre.chairs([1, "a"]);
  // @ts-expect-error a single child has no key
  theatre.hall(1);
}

function stateStaysInside(theatre: Ref<Theatre>, hall: Ref<Hall>): void {
  // @ts-expect-error a field is not reachable through a reference
  void theatre.name;
  // @ts-expect-error nor is an accessor
  void theatre.size;
  // @ts-expect-error nor is the key
  void theatre.key;
  // @ts-expect-error nor is what a context may only do for itself
  theatre.downgrade();
  // @ts-expect-error nor a method that is not public
  theatre.hall.fuse();
  // @ts-expect-error children cannot be replaced
  theatre.hall = hall;
}

function elsewhere(theatre: Elsewhere<Theatre>, later: Later<Theatre>, view: View<Theatre>): void {
  equal<ReturnType<typeof theatre.chairs>, Elsewhere<Chair>>(true);
  void theatre.hall;
  // @ts-expect-error a context elsewhere cannot be called
  theatre.seats("ada");
  // @ts-expect-error nor can one below it
  theatre.hall.switchOn(1);
  equal<ReturnType<typeof later.seats>, void>(true);
  // @ts-expect-error the arguments of a later event are checked too
  later.seats(3);
  // @ts-expect-error a later event starts on the context itself, not below it
  void later.hall;
  equal<typeof view.name, string>(true);
  equal<typeof view.guests, ReadonlyMap<string, number>>(true);
  equal<typeof view.key, string>(true);
  // @ts-expect-error a view is to look at
  view.name = "rose";
  // @ts-expect-error a view has no methods
  view.seats();
  // @ts-expect-error a view has no children
  void view.chairs;
}

function lookedAt(play: View<Play>): void {
  equal<typeof play.tags, ReadonlySet<string>>(true);
  equal<typeof play.size, readonly [number, number]>(true);
  equal<typeof play.price, Money>(true);
  equal<typeof play.bytes, Uint8Array<ArrayBuffer>>(true);
  equal<typeof play.anything, unknown>(true);
  equal<typeof play.isOpen, boolean>(true);
  const { at, by } = play.opened ?? {};
  equal<typeof at, Date | undefined>(true);
  equal<typeof by, string | undefined>(true);
  const titles: readonly string[] = play.acts.flatMap((act) => act.scenes.map(({ title }) => title));
  void titles;
  // @ts-expect-error changing an array of a view would do nothing
  play.acts.push({ title: "one", scenes: [] });
  // @ts-expect-error nor would changing an object in it
  for (const act of play.acts) act.title = "two";
  // @ts-expect-error nor one further down
  for (const act of play.acts) act.scenes[0] = act;
  // @ts-expect-error nor a Map
  play.cast.delete("ada");
  // @ts-expect-error nor what is in it
  play.cast.get("ada")?.lines.push("…");
  // @ts-expect-error nor a Set
  play.tags.add("comedy");
  // @ts-expect-error nor an object that is a field
  if (play.opened) play.opened.by = "ada";
}

test("references, later events and views are typed by the classes they name", () => {
  for (const check of [calls, keys, stateStaysInside, elsewhere, lookedAt, Play])
    assert.equal(typeof check, "function");
});
