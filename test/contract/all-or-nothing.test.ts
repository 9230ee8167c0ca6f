import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, type FailedEvent, readonly, run, type TimerId } from "headwater";
import { Gates } from "../gates.js";

/** DESIGN.md, the contract, line 3: an event that throws changes nothing, sends nothing, starts nothing. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Shelf extends Context<number> {
  items: string[] = [];
  alarm: TimerId | undefined;

  put(item: string) {
    this.items.push(item);
    this.event.send("ada", `${item} on ${this.key}`);
    this.event.start(this.above(Shop)).note(item);
    this.alarm = this.event.after(0, this.ring, item);
  }
  putAndFail(item: string) {
    this.put(item);
    throw new RangeError(`no room for ${item}`);
  }
  async putLaterAndFail(item: string) {
    await Promise.resolve();
    this.putAndFail(item);
  }
  ring(item: string) {
    this.event.send("ada", `${item} rang`);
    void gates.pass(`rang ${item}`);
  }
  quietlyCancelAndFail() {
    if (this.alarm !== undefined) this.event.cancel(this.alarm);
    throw new Error("not after all");
  }
  armFor(item: string) {
    this.alarm = this.event.after(0, this.ring, item);
    this.event.after(1, this.ring, `${item}, after`);
  }
  @readonly list() {
    return this.items;
  }
}
class Shop extends Context {
  notes: string[] = [];
  shelves = this.children(Shelf);

  note(item: string) {
    this.notes.push(item);
  }
  async failAtTheEnd() {
    this.notes.push("begun");
    await this.shelves(1).put("a");
    await this.shelves(2).put("b");
    throw new RangeError("the end");
  }
  async catchOne() {
    await this.shelves(1).put("kept");
    try {
      await this.shelves(2).putLaterAndFail("lost");
    } catch (error) {
      this.notes.push(String(error));
    }
    await this.shelves(2).put("second try");
  }
  async failAfterCatching() {
    await this.catchOne();
    throw new Error("after all");
  }
  async restockAndFail() {
    await this.shelves(3).put("deep");
    throw new Error("restock failed");
  }
  @readonly async everything() {
    const shelves = [];
    for (const shelf of [1, 2, 3]) shelves.push(await this.shelves(shelf).list());
    return { notes: this.notes, shelves };
  }
}
class Street extends Context {
  log: string[] = [];
  shop = this.child(Shop);
  async visit() {
    try {
      await this.shop.restockAndFail();
    } catch (error) {
      this.log.push(String(error));
    }
    return this.log;
  }
}

const NOTHING = { notes: [], shelves: [[], [], []] };

async function open() {
  const heard: unknown[] = [];
  const failed: FailedEvent[] = [];
  const service = await run(Shop, { onError: (failure) => failed.push(failure) });
  service.client("ada", (message) => heard.push(message));
  return { service, root: service.root, heard, failed };
}

test("line 3: an event that throws leaves every context it touched as it was, and its caller gets the error", async () => {
  const { service, root, heard } = await open();
  await assert.rejects(
    root.failAtTheEnd(),
    (error) => error instanceof RangeError && error.message === "the end",
  );
  await service.idle();
  assert.deepEqual(await root.everything(), NOTHING);
  assert.deepEqual(heard, []);
  await root.shelves(1).armFor("x");
  await gates.reached("rang x, after");
  await service.idle();
  assert.deepEqual(heard, ["x rang", "x, after rang"], "no timer of the failed event was armed");
  await service.stop();
});

test("line 3: it makes no difference whether a method throws at once, later, or something that is no error", async () => {
  class Thrower extends Context {
    n = 0;
    atOnce() {
      this.n = 1;
      throw new TypeError("at once");
    }
    async later() {
      this.n = 2;
      await Promise.resolve();
      throw { code: 7 };
    }
    @readonly look() {
      return this.n;
    }
  }
  const { root, stop } = await run(Thrower);
  await assert.rejects(root.atOnce(), TypeError);
  await assert.rejects(root.later(), (thrown) => assert.deepEqual(thrown, { code: 7 }) === undefined);
  assert.equal(await root.look(), 0);
  await stop();
});

test("line 3: what a failed call below did is undone when its error is caught, and nothing else is", async () => {
  const { service, root, heard } = await open();
  await root.catchOne();
  await gates.reached("rang second try");
  await service.idle();
  assert.deepEqual(await root.everything(), {
    notes: ["RangeError: no room for lost", "kept", "second try"],
    shelves: [["kept"], ["second try"], []],
  });
  assert.deepEqual(new Set(heard), new Set(["kept on 1", "second try on 2", "kept rang", "second try rang"]));
  assert.equal(heard.length, 4);
  await service.stop();
});

test("line 3: what was caught and kept is undone too when the event fails in the end", async () => {
  const { service, root, heard } = await open();
  await assert.rejects(root.failAfterCatching(), /after all/);
  await service.idle();
  assert.deepEqual(await root.everything(), NOTHING);
  assert.deepEqual(heard, []);
  await service.stop();
});

test("line 3: undoing a call undoes what it called in turn", async () => {
  const heard: unknown[] = [];
  const service = await run(Street);
  service.client("ada", (message) => heard.push(message));
  assert.deepEqual(await service.root.visit(), ["Error: restock failed"]);
  await service.idle();
  assert.deepEqual(await service.root.shop.everything(), NOTHING);
  assert.deepEqual(heard, []);
  await service.stop();
});

test("line 3: a timer whose cancelling failed still fires", async () => {
  const { service, root, heard } = await open();
  const armed = root.shelves(1).armFor("tea");
  const cancelled = root.shelves(1).quietlyCancelAndFail();
  await armed;
  await assert.rejects(cancelled, /not after all/);
  await gates.reached("rang tea, after");
  await service.idle();
  assert.deepEqual(heard, ["tea rang", "tea, after rang"]);
  await service.stop();
});

test("line 3: events that were in the queue behind a failed one find nothing of it", async () => {
  const { service, root } = await open();
  const results = await Promise.allSettled([
    root.shelves(1).putAndFail("a"),
    root.shelves(1).list(),
    root.failAtTheEnd(),
    root.everything(),
    root.shelves(2).list(),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : "failed")),
    ["failed", [], "failed", NOTHING, []],
  );
  await service.stop();
});

test("line 3: the failure of an event that nobody waits for is reported, and changed nothing", async () => {
  class Chain extends Context {
    n = 0;
    begin() {
      this.event.start(this.above(Chain)).fail();
    }
    fail() {
      this.n = 1;
      throw new TypeError("nobody listens");
    }
    @readonly look() {
      return this.n;
    }
  }
  const failed: FailedEvent[] = [];
  const service = await run(Chain, { onError: (failure) => failed.push(failure) });
  await service.root.begin();
  await service.idle();
  assert.equal(await service.root.look(), 0);
  const [failure] = failed;
  assert.equal(failed.length, 1);
  assert.deepEqual(
    { ...failure, error: String(failure?.error) },
    {
      context: "Chain",
      method: "fail",
      startedBy: "start",
      error: "TypeError: nobody listens",
      unreported: 0,
    },
  );
  await service.stop();
});

class Tally extends Context {
  count = 0;

  add() {
    this.count += 1;
  }
  read() {
    return this.count;
  }
}

class Clerk extends Context {
  tally = this.child(Tally);

  async addOften(times: number) {
    for (let i = 0; i < times; i++) await this.tally.add();
  }
}

class Office extends Context {
  clerk = this.child(Clerk);

  async addOften(times: number, fails: boolean) {
    await this.clerk.addOften(times);
    if (fails) throw new RangeError("in vain");
  }
}

test("an event of very many calls is undone as a whole, too", async () => {
  const { root, stop } = await run(Office);
  const times = 150_000; // more than a function takes as arguments
  await root.addOften(times, false);
  assert.equal(await root.clerk.tally.read(), times);
  await assert.rejects(root.addOften(times, true), /in vain/);
  assert.equal(await root.clerk.tally.read(), times);
  await stop();
});
