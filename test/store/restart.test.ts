import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly, run, type Service } from "headwater";
import { DOOR } from "#src/model/door.js";
import { temporaryDirectory } from "./support.js";

class Counter extends Context<string> {
  count = 0;
  log: string[] = [];

  add(by: number) {
    this.count += by;
    return this.count;
  }

  note(text: string) {
    this.log.push(text);
  }

  later(ms: number, text: string) {
    this.event.after(ms, this.note, text);
  }

  fail() {
    this.count = -1;
    throw new TypeError("no");
  }

  @readonly all() {
    return { count: this.count, log: this.log };
  }
}

class Counters extends Context {
  counters = this.children(Counter);

  tell(client: string, text: string) {
    this.event.send(client, text);
  }

  spread(names: string[], text: string) {
    for (const name of names) this.event.start(this.counters(name)).note(text);
  }
}

async function withService<T>(journal: string, use: (service: Service<Counters>) => Promise<T>): Promise<T> {
  const service = await run(Counters, { journal });
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

test("what was acknowledged is there after a restart", async (t) => {
  const journal = await temporaryDirectory(t);
  await withService(journal, async ({ root }) => {
    assert.equal(await root.counters("a").add(2), 2);
    assert.equal(await root.counters("a").add(3), 5);
    await root.counters("b").note("hello");
    await assert.rejects(root.counters("b").fail(), TypeError);
  });
  await withService(journal, async ({ root }) => {
    assert.deepEqual(await root.counters("a").all(), { count: 5, log: [] });
    assert.deepEqual(await root.counters("b").all(), { count: 0, log: ["hello"] });
    assert.deepEqual(await root.counters("c").all(), { count: 0, log: [] });
  });
});

test("started events that had not run are run after a restart, in their order", async (t) => {
  const journal = await temporaryDirectory(t);
  await withService(journal, async (service) => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i % 5}`);
    void service.root.spread(names, "first");
    await service.root.spread(names, "second");
  });
  await withService(journal, async (service) => {
    await service.idle();
    for (let i = 0; i < 5; i++) {
      const { log } = await service.root.counters(`n${i}`).all();
      assert.deepEqual(log, [...Array(10).fill("first"), ...Array(10).fill("second")]);
    }
  });
});

test("timers survive, and those that were due meanwhile go off", async (t) => {
  const journal = await temporaryDirectory(t);
  await withService(journal, async ({ root }) => {
    await root.counters("a").later(1, "soon");
    await root.counters("a").later(1_000_000, "much later");
  });
  await withService(journal, async ({ root }) => {
    let log: string[] = [];
    while (log.length === 0) ({ log } = await root.counters("a").all());
    assert.deepEqual(log, ["soon"]);
  });
});

test("a request that is asked again after a restart has its effect once", async (t) => {
  const journal = await temporaryDirectory(t);
  const ask = (service: Service<Counters>, request: string) =>
    service.as({ request }).root.counters("a").add(1);
  await withService(journal, async (service) => {
    assert.equal(await ask(service, "r1"), 1);
    assert.equal(await ask(service, "r2"), 2);
    await assert.rejects(service.as({ request: "r3" }).root.counters("a").fail(), TypeError);
  });
  await withService(journal, async (service) => {
    assert.equal(await ask(service, "r1"), 1);
    assert.equal(await ask(service, "r2"), 2);
    await assert.rejects(service.as({ request: "r3" }).root.counters("a").fail(), {
      name: "TypeError",
      message: "no",
    });
    assert.equal(await ask(service, "r4"), 3);
  });
});

test("a client is known after a restart, though nothing else has happened", async (t) => {
  const journal = await temporaryDirectory(t);
  const comes = async (client: string) => {
    const service = await run(Counters, { journal });
    const { isComplete } = service[DOOR].listen(client, () => {});
    await service.stop();
    return isComplete;
  };
  assert.equal(await comes("ada"), false);
  assert.equal(await comes("ada"), true);
  assert.equal(await comes("ben"), false);
});

test("what a client was told before a stop, it is not told again", async (t) => {
  const journal = await temporaryDirectory(t);
  const told: unknown[] = [];
  for (const text of ["first", "second"]) {
    const service = await run(Counters, { journal });
    service.client("ada", (message) => told.push(message));
    await service.root.tell("ada", text);
    await service.idle();
    await service.stop();
  }
  assert.deepEqual(told, ["first", "second"]);
});

test("a journal of another program is refused and stays as it is", async (t) => {
  const journal = await temporaryDirectory(t);
  await withService(journal, ({ root }) => root.counters("a").add(1));
  class Others extends Context {}
  await assert.rejects(run(Others, { journal }), { code: "HW-3002" });
  await withService(journal, async ({ root }) => assert.equal(await root.counters("a").add(1), 2));
});

test("contexts, requests and timers may have names of any length", async (t) => {
  const journal = await temporaryDirectory(t);
  await withService(journal, async ({ root }) => {
    await root.counters("x".repeat(1000)).later(1, "soon");
    await root.counters(`${"x".repeat(1000)}y`).note("another");
  });
  await withService(journal, async (service) => {
    const request = "r".repeat(5000);
    const { root } = service.as({ request });
    assert.equal(await root.counters("a").add(1), 1);
    assert.equal(await service.as({ request }).root.counters("a").add(1), 1);
    let log: string[] = [];
    while (log.length === 0) ({ log } = await service.root.counters("x".repeat(1000)).all());
    assert.deepEqual(log, ["soon"]);
    assert.deepEqual((await service.root.counters(`${"x".repeat(1000)}y`).all()).log, ["another"]);
  });
});
