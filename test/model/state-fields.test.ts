import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Context, type ContextClass, MemoryJournal, readonly, run, tracked } from "headwater";
import { shapeOf } from "#src/model/shape.js";
import { refusedAtOnce } from "../refused.js";

/** Whatever an instance holds is state, or the class is refused: nothing is lost in silence. */

class Meter extends Context<string> {
  accessor count = 0;
  accessor seen = tracked.set<string>();
  plain = 1;

  add(who: string) {
    this.count += 1;
    this.plain += 1;
    this.seen.add(who);
    return [this.count, this.plain, this.seen.size];
  }
  addAndFail(who: string): never {
    this.add(who);
    throw new RangeError("not today");
  }
  @readonly look() {
    return [this.count, this.plain, [...this.seen], inspect(this)];
  }
}
class Hall extends Context {
  meters = this.children(Meter);
  fillers = this.children(Meter);
}

test("fields that are declared with accessor are state: undone with a failed event, and there after a restart", async () => {
  const journal = new MemoryJournal();
  const first = await run(Hall, { journal, limits: { contexts: 2 } });
  const meter = first.root.meters("a");
  assert.deepEqual(await meter.add("ada"), [1, 2, 1]);
  await assert.rejects(meter.addAndFail("bob"), /not today/);
  for (let i = 0; i < 20; i++) await first.root.fillers(`f${i}`).add("x"); // which push the first out of memory
  const shown = "Hall.meters(\"a\") { plain: 2, count: 1, seen: tracked.set(1) { 'ada' } }";
  const [count, plain, seen, text] = (await meter.look()) as [number, number, string[], string];
  assert.deepEqual([count, plain, seen], [1, 2, ["ada"]]);
  assert.match(text, /^Hall\.meters\("a"\) \{ plain: 2, count: 1, seen: .*ada/, shown);
  await first.stop();
  const second = await run(Hall, { journal });
  assert.deepEqual(await second.root.meters("a").add("cleo"), [2, 3, 2]);
  await second.stop();
});

test("a getter and a setter of the program's own are not taken for state", () => {
  class Room extends Context {
    kelvin = 273;
    get celsius() {
      return this.kelvin - 273;
    }
    set celsius(value: number) {
      this.kelvin = value + 273;
    }
    #helper() {
      return this.kelvin;
    }
    use() {
      return this.#helper();
    }
  }
  assert.deepEqual(shapeOf(Room).fields, ["kelvin"]);
});

const MARK = Symbol("mark");

function classes(): [string, ContextClass][] {
  class Private extends Context {
    #count = 0;
    add() {
      this.#count += 1;
      return this.#count;
    }
  }
  class Changed extends Context {
    #count = 0;
    get count() {
      return this.#count * 2;
    }
    set count(value: number) {
      this.#count = value;
    }
  }
  class BySymbol extends Context {
    [MARK] = 0;
  }
  class Computed extends Context {
    constructor() {
      super();
      Object.defineProperty(this, "now", { get: () => 1, enumerable: true });
    }
  }
  class Hidden extends Context {
    constructor() {
      super();
      Object.defineProperty(this, "hidden", { value: 1, writable: true });
    }
  }
  class Heir extends Private {
    more = 1;
  }
  const all = { "#count": Private, "Symbol(mark)": BySymbol, now: Computed, hidden: Hidden };
  return [...Object.entries(all), ["#count", Changed], ["#count", Heir]];
}

test("HW-1030: what is hidden from the runtime is refused before anything runs", () => {
  for (const [field, cls] of classes()) refusedAtOnce(() => shapeOf(cls), "HW-1030", cls.name, field);
});

test("HW-1017: no method and no child has a name that JavaScript asks any object for, or that every context has", () => {
  class Leaf extends Context {}
  const always = ["then", "toJSON", "constructor", ...Object.getOwnPropertyNames(Object.prototype)];
  const ofContexts = ["key", "event", "children", "child", "above", "downgrade"];
  for (const name of [...always, ...ofContexts]) {
    class Parent extends Context {
      constructor() {
        super();
        const value = this.child(Leaf);
        Object.defineProperty(this, name, { value, enumerable: true, writable: true });
      }
    }
    refusedAtOnce(() => shapeOf(Parent), "HW-1017", "Parent", `"${name}"`);
    if (name === "constructor") continue;
    class Able extends Context {}
    Object.defineProperty(Able.prototype, name, { value() {} });
    refusedAtOnce(() => shapeOf(Able), "HW-1017", "Able", `"${name}"`);
  }
  class Open extends Context {
    "(delete)"() {}
  }
  refusedAtOnce(() => shapeOf(Open), "HW-1017", '"(delete)"');
});

test("a field that holds data may have such a name: references do not show it", async () => {
  class Step extends Context {
    // biome-ignore lint/suspicious/noThenProperty: it holds no function, so nothing calls it.
    then = "lunch";
    @readonly next() {
      return this.then;
    }
  }
  const service = await run(Step);
  assert.equal(await service.root.next(), "lunch");
  await service.stop();
});
