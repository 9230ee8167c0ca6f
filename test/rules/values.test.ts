import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, register, run } from "headwater";
import { Gates } from "../gates.js";
import { refused } from "../refused.js";

/** HW-1006 at every boundary that a value may cross, and what does cross is a copy. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Money {
  constructor(readonly amount: number) {}
  twice() {
    return new Money(this.amount * 2);
  }
}
register(Money);

class Log extends Context {
  lines: unknown[] = [];
  write(line: unknown) {
    this.lines.push(line);
  }
  @readonly read() {
    return this.lines;
  }
}
const outside: { list: string[] } = { list: [] };

class Box extends Context<string> {
  content: unknown = null;

  put(value: unknown) {
    this.content = value;
    return value;
  }
  putTwo(_: unknown, value: unknown) {
    this.content = value;
  }
  returnFunction() {
    return { deep: [() => 1] };
  }
  keepFunction() {
    this.content = { deep: [() => 1] };
  }
  keepReference(boxes: "own" | "below") {
    this.content = boxes === "own" ? this.above(Store) : this;
  }
  keepAndLeak() {
    const list = ["inside"];
    this.content = list;
    outside.list = list;
  }
  @readonly look() {
    return this.content;
  }
}
class Store extends Context {
  boxes = this.children(Box);

  async passDown(how: "function" | "reference" | "children") {
    const value = { function: () => 1, reference: this.boxes("b"), children: this.boxes };
    await this.boxes("a").put(value[how]);
  }
  startWith(value: "function" | "promise") {
    const bad = value === "function" ? () => 1 : Promise.resolve(1);
    this.event.start(this.boxes("a")).putTwo("fine", bad);
  }
  sendWith() {
    this.event.send(this.event.peer(Log)).write([new WeakSet()]);
  }
  tellWith() {
    this.event.send("ada", { socket: () => 1 });
  }
  armWith() {
    this.event.after(0, this.rang, { f: () => 1 });
  }
  rang(_: unknown) {}
  async shareDown() {
    const list = ["a"];
    await this.boxes("a").put(list);
    list.push("b");
    const seen = (await this.boxes("a").put(list)) as string[];
    seen.push("c");
    list.push("d");
    return this.boxes("a").look();
  }
  shareLater() {
    const list = ["a"];
    this.event.start(this.boxes("a")).put(list);
    this.event.send("ada", list);
    this.event.send(this.event.peer(Log)).write(list);
    list.push("b");
  }
}

test("HW-1006: what a request, a call, a result or a field may not hold is refused with the path to it", async () => {
  const service = await run({ store: Store, log: Log });
  const { store } = service.nodes;
  const box = store.boxes("x");
  await refused(
    box.put({ a: [() => 1] }),
    "HW-1006",
    'store.boxes("x").put',
    "argument 1.a[0]",
    "a function",
  );
  await refused(box.putTwo(1, new Proxy({}, {}) && Symbol("s")), "HW-1006", "argument 2", "Symbol(s)");
  await refused(box.returnFunction(), "HW-1006", 'store.boxes("x").returnFunction', ".deep[0]");
  await refused(box.keepFunction(), "HW-1006", 'store.boxes("x").content.deep[0]');
  await refused(box.keepReference("own"), "HW-1006", 'store.boxes("x").content', "a reference to a context");
  await refused(box.keepReference("below"), "HW-1006", 'store.boxes("x").content', "a context itself");
  await refused(store.passDown("function"), "HW-1006", 'store.boxes("a").put', "argument 1");
  await refused(store.passDown("reference"), "HW-1006", "argument 1", "a reference to a context");
  await refused(store.passDown("children"), "HW-1006", "argument 1", "a function");
  assert.equal(await box.look(), null);
  await service.stop();
});

test("HW-1006: nor may started events, messages and timers carry it", async () => {
  const service = await run({ store: Store, log: Log });
  const { store } = service.nodes;
  await refused(store.startWith("function"), "HW-1006", 'store.boxes("a").putTwo', "argument 2");
  await refused(store.startWith("promise"), "HW-1006", "argument 2", "a promise (await it first)");
  await refused(store.sendWith(), "HW-1006", "log.write", "argument 1[0]", "WeakSet");
  await refused(store.tellWith(), "HW-1006", '"ada"', ".socket");
  await refused(store.armWith(), "HW-1006", "store.rang", "argument 1.f");
  await service.idle();
  assert.deepEqual(await service.nodes.log.read(), []);
  await service.stop();
});

test("what crosses a boundary is a copy, so nothing is shared between contexts or with the outside", async () => {
  const service = await run({ store: Store, log: Log });
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  const { store, log } = service.nodes;
  const mine = ["mine"];
  const reply = (await store.boxes("x").put(mine)) as string[];
  mine.push("later");
  reply.push("changed");
  assert.deepEqual(await store.boxes("x").look(), ["mine"]);
  assert.deepEqual(await store.shareDown(), ["a", "b"]);
  await store.shareLater();
  await service.idle();
  assert.deepEqual(await store.boxes("a").look(), ["a"]);
  assert.deepEqual(heard, [["a"]]);
  assert.deepEqual(await log.read(), [["a"]]);
  await service.stop();
});

test("an argument is copied when the request is made, not when its event gets its turn", async () => {
  class Slow extends Context {
    seen: unknown[] = [];
    async wait() {
      await gates.pass("slow");
    }
    take(list: unknown[]) {
      this.seen = list;
      return this.seen;
    }
  }
  const { root, stop } = await run(Slow);
  const waiting = root.wait();
  const list = ["a"];
  const taken = root.take(list);
  list.push("b");
  gates.open("slow");
  await waiting;
  assert.deepEqual(await taken, ["a"]);
  await stop();
});

test("what outside code does later to a value that an event has stored changes nothing", async () => {
  const service = await run({ store: Store, log: Log });
  const box = service.nodes.store.boxes("x");
  await box.keepAndLeak();
  outside.list.push("from outside");
  assert.deepEqual(await box.look(), ["inside"]);
  await service.stop();
});

test("instances of registered classes cross with their methods, errors with their text and fields", async () => {
  class Shop extends Context {
    cash = new Money(1);
    double(by: Money) {
      this.cash = new Money(this.cash.twice().amount + by.twice().amount);
      return this.cash;
    }
    fail() {
      throw Object.assign(new RangeError("sold out"), { code: "E_SOLD", left: [0] });
    }
  }
  const { root, stop } = await run(Shop);
  const cash = await root.double(new Money(10));
  assert.ok(cash instanceof Money);
  assert.equal(cash.twice().amount, 44);
  await assert.rejects(root.fail(), (error: unknown) => {
    assert.ok(error instanceof RangeError);
    assert.deepEqual(
      { ...error, message: error.message },
      { code: "E_SOLD", left: [0], message: "sold out" },
    );
    return true;
  });
  await stop();
});
