import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Context,
  outside as declared,
  type Elsewhere,
  type OutsideResult,
  type Page,
  type Ref,
  reads,
  type Sender,
  type TimerId,
  type View,
} from "headwater";

/** What a method may write, checked by the compiler; nothing here is run. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const equal = <A, B>(_: Equal<A, B>): void => {};

class Printer extends Context {
  lines: string[] = [];
  print(line: string) {
    this.lines.push(line);
  }
}
class Life extends Context {
  size = 3;
  cells = this.children(Cell);

  expire(_cell: Cell["key"], _why: string) {}
  heard(_result: OutsideResult<number>, _what: string) {}

  async tick() {
    equal<ReturnType<typeof this.cells>, Ref<Cell>>(true);
    const done = await this.cells(0, 0).compute(1);
    equal<typeof done, void>(true);
    equal<typeof this.key, never>(true);
    const page = await this.event.list(this.cells, { after: [1, 2], limit: 5 });
    equal<typeof page, Page<readonly [x: number, y: number]>>(true);
    // @ts-expect-error the key to begin behind must be of the declared type
    await this.event.list(this.cells, { after: "a" });
    // @ts-expect-error only fields of children are listed
    await this.event.list(this.size);
    await this.event.delete(this.cells(0, 0));
    // @ts-expect-error what is deleted is a context
    await this.event.delete(this.cells);
    // @ts-expect-error a call's result must be awaited before it is used
    const wrong: undefined = this.cells(0, 0).compute(1);
    void wrong;
  }
}
class Cell extends Context<readonly [x: number, y: number]> {
  weighed(_result: OutsideResult<number>, _times: number) {}
  alive = false;
  timer: TimerId | undefined;

  store(value: boolean, from: readonly [number, number]) {
    this.alive = value && from[0] === 0;
  }

  @reads(Life)
  async compute(times: number) {
    equal<typeof this.key, readonly [x: number, y: number]>(true);
    equal<typeof this.event.time, number>(true);
    equal<typeof this.event.caller, string | undefined>(true);
    const life = this.event.read(Life);
    equal<typeof life, View<Life>>(true);
    equal<typeof life.size, number>(true);

    const root = this.above(Life);
    equal<typeof root, Elsewhere<Life>>(true);
    this.event.start(root.cells(1, 2)).store(true, [0, 0]);
    // @ts-expect-error the arguments of a started event are checked
    this.event.start(root.cells(1, 2)).store("yes", [0, 0]);
    // @ts-expect-error a context above can only be aimed at
    await root.tick();
    // @ts-expect-error so can those beside this one
    await root.cells(1, 2).store(true, [0, 0]);

    this.timer = this.event.after(10, this.compute, times + 1);
    this.event.cancel(this.timer);
    // @ts-expect-error the arguments of a timer's method are checked
    this.event.after(10, this.compute, "many");
    // @ts-expect-error and none may be missing
    this.event.after(10, this.store, true);

    equal<typeof this.event.sender, Sender | undefined>(true);
    equal<typeof this.event.ticket, number>(true);
    const parent = this.event.parent(Life);
    equal<typeof parent, Elsewhere<Life> | undefined>(true);
    // @ts-expect-error there may be no such context above
    this.event.start(parent).tick();

    const later = this.event.after(10, root).expire(this.key, "late");
    equal<typeof later, TimerId>(true);
    // @ts-expect-error the arguments of a timer's method above are checked
    this.event.after(10, root).expire("late");
    // @ts-expect-error a context has only its own methods
    this.event.after(10, root).compute(1);
    this.event.outside(weigh, "gold", this.weighed, 3);
    this.event.outside(weigh, "gold", root).heard("gold");
    // @ts-expect-error the further arguments are checked
    this.event.outside(weigh, "gold", root).heard(5);
    // @ts-expect-error a method that does not take the result cannot be started with it
    this.event.outside(weigh, "gold", root).expire();

    const printer = this.event.peer(Printer);
    this.event.send(printer).print("line");
    // @ts-expect-error the arguments of a message are checked
    this.event.send(printer).print(4);
    // @ts-expect-error another logical node cannot be called
    await printer.print("line");
    this.event.send("ada", { any: ["plain", "data"] });
  }
}

const weigh = declared("types-weigh", (what: string) => what.length);

class Keyed extends Context<number> {}
class Parent extends Context {
  keyed = this.children(Keyed);
  // @ts-expect-error a class with a key cannot be a single child
  single = this.child(Keyed);
  // @ts-expect-error a class without a key cannot be told apart from its siblings
  printers = this.children(Printer);
  // @ts-expect-error what is below must be a context class
  plain = this.child(class Plain {});
}

class Pair extends Context<readonly [first: string, second: number, ...others: string[]]> {}
class Many extends Context<string | readonly [string, string]> {}
class Keys extends Context {
  pairs = this.children(Pair);
  many = this.children(Many);
  use() {
    equal<Parameters<typeof this.pairs>, [first: string, second: number, ...others: string[]]>(true);
    this.many("a");
    this.many("a", "b");
  }
}
// @ts-expect-error an array may have a single part, and then the key is that part and no array
class Open extends Context<readonly string[]> {}
// @ts-expect-error a tuple of one part is that part: Context<string>
class One extends Context<readonly [name: string]> {}
// @ts-expect-error so is one that may have one part
class OneOrTwo extends Context<readonly [name: string, floor?: number]> {}
// @ts-expect-error what else is no string and no number cannot name a context
class Flag extends Context<boolean> {}

function outside(life: Ref<Life>): void {
  // @ts-expect-error a key must have the declared type
  life.cells("a", "b");
  // @ts-expect-error a context cannot be asked for its event from outside
  void life.event;
}

test("contexts, their events, timers and messages are typed", () => {
  for (const check of [Cell, Life, Parent, Keys, Open, One, OneOrTwo, Flag, outside])
    assert.equal(typeof check, "function");
});
