import assert from "node:assert/strict";
import { test } from "node:test";
import { AnonymousContext, Context, readonly, run } from "headwater";
import { refused, refusedAtOnce } from "../refused.js";

/** HW-1013, HW-1015 and HW-1017: classes and keys that `run` and references refuse. */

class Item extends Context<string | number> {
  n = 0;
  add() {
    this.n += 1;
    return this.n;
  }
}
class Adder extends AnonymousContext<number> {
  add(a: number) {
    return a + this.key;
  }
  @readonly twice(a: number) {
    return a * 2;
  }
}
class Shelf extends Context {
  items = this.children(Item);
  adders = this.children(Adder);
  async addAt(...key: unknown[]) {
    const items = this.items as unknown as (...key: unknown[]) => { add(): Promise<number> };
    return items(...key).add();
  }
  async addUp(a: number) {
    return (await this.adders(1).add(a)) + (await this.adders(2).twice(a));
  }
}

test("HW-1013: a program with an anonymous context that has state is refused before it runs", async () => {
  class Leaky extends AnonymousContext {
    count = 0;
  }
  class Root extends Context {
    leaky = this.child(Leaky);
  }
  await refused(run(Root), "HW-1013", "Leaky", "count");
});

test("anonymous contexts run methods, alone and as part of an event", async () => {
  const { root, stop } = await run(Shelf);
  assert.equal(await root.adders(5).add(1), 6);
  assert.equal(await root.addUp(10), 31);
  await stop();
});

test("HW-1015: a key that cannot name a context is refused, inside and outside events", async () => {
  const { root, stop } = await run(Shelf);
  const items = root.items as unknown as (...key: unknown[]) => unknown;
  for (const key of [undefined, null, Number.NaN, {}, true]) {
    refusedAtOnce(() => items(key), "HW-1015", `items(${String(key)})`);
    await refused(root.addAt(key as string), "HW-1015");
  }
  await refused(root.addAt(), "HW-1015", "items()");
  await stop();
});

test("keys that look alike name different contexts", async () => {
  const { root, stop } = await run(Shelf);
  assert.equal(await root.items(1).add(), 1);
  assert.equal(await root.items("1").add(), 1);
  assert.equal(await root.items(1).add(), 2);
  assert.equal(await root.items(0).add(), 1);
  assert.equal(await root.items(-0).add(), 2);
  await stop();
});

test("HW-1017: what is no context class, or makes children nobody keeps, is refused before it runs", async () => {
  class Careless extends Context {
    constructor() {
      super();
      this.children(Item);
    }
  }
  await refused(run(class Plain {} as unknown as typeof Shelf), "HW-1017", "extends Context");
  await refused(run(Careless), "HW-1017", "Careless");
  await refused(run({}), "HW-1017");
});

test("HW-1017: a field that holds a function is refused by name before anything runs, in any class of the tree", async () => {
  class Handy extends Context<number> {
    count = 0;
    inc = () => {
      this.count += 1;
    };
  }
  class Root extends Context {
    handy = this.children(Handy);
  }
  await refused(run(Root), "HW-1017", "Handy", '"inc"', "write it as a method");
});

test("a class without a name is called that in messages", async () => {
  const service = await run(
    class extends Context {
      hall = this.child(Shelf);
      wrong() {
        this.event.send(this.above(Context as unknown as typeof Shelf)).addUp(1);
      }
    },
  );
  assert.equal(String(service.root.hall), "(anonymous class).hall");
  const root = service.root as unknown as Record<string, unknown>;
  refusedAtOnce(() => root.nothing, "HW-1007", '(anonymous class) has no method "nothing"');
  await refused(service.root.wrong(), "HW-1018", '"(anonymous class)"');
  await service.stop();
});

test("a context whose field initialiser fails fails the events that need it, and no others", async () => {
  class Moody extends Context<number> {
    n = this.key > 5 ? fail() : this.key;
    look() {
      return this.n;
    }
  }
  class Root extends Context {
    moody = this.children(Moody);
    async tryTen() {
      return this.moody(10)
        .look()
        .catch((error: Error) => error.message);
    }
  }
  function fail(): number {
    throw new RangeError("too moody");
  }
  const { root, stop } = await run(Root);
  await assert.rejects((async () => root.moody(6).look())(), /too moody/);
  assert.equal(await root.moody(5).look(), 5);
  assert.equal(await root.tryTen(), "too moody");
  assert.equal(await root.moody(5).look(), 5);
  await stop();
});

test("HW-1024: fields cannot be added to a context while it runs", async () => {
  class Fixed extends Context {
    n = 1;
    grow() {
      (this as unknown as { extra: number }).extra = 1;
    }
  }
  const { root, stop } = await run(Fixed);
  await refused(root.grow(), "HW-1024", "Fixed.grow", "this.extra");
  await stop();
});
