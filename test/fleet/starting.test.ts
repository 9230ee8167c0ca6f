import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type HeadwaterError, hostsOf, MemoryJournal, run } from "headwater";
import Patience from "./programs/never-loads.js";
import { clock, Puppets, said } from "./puppets.js";

const KEYS = 8;

class Room extends Context<number> {
  guests = 0;
  enter() {
    this.guests += 1;
    return this.guests;
  }
}
class Hotel extends Context {
  rooms = this.children(Room);
}

const START_MS = 1000;

for (const hostsAs of ["threads", "processes"] as const) {
  test(`${hostsAs}: a program that hosts never finish loading is refused`, async () => {
    const module = new URL("./programs/never-loads.ts", import.meta.url).href;
    await assert.rejects(run(Patience, { hosts: 2, hostsAs, module, hostStartTimeoutMs: 50 }), {
      code: "HW-6008",
      message: /host \d could not be started: it was not ready after \d+ ms/,
    });
  });
}

test("a program starts as late as it may, and not later", async (t) => {
  const pass = clock(t);
  const puppets = new Puppets(Hotel, null);
  const starting = puppets.start(2, { hostStartTimeoutMs: START_MS });
  await pass(START_MS - 1);
  for (const puppet of puppets.started) puppet.ready();
  const hosts = await starting;
  await pass(START_MS);
  assert.ok(!puppets.started.some(({ isKilled }) => isKilled));
  await hosts.close();
});

test("a host that hangs while it starts in the place of another is ended and replaced, and its contexts go on", async (t) => {
  const pass = clock(t);
  const puppets = new Puppets(Hotel, new MemoryJournal());
  const { root, stop } = await puppets.run(Hotel, {
    hosts: 1,
    hostStartTimeoutMs: START_MS,
    isSpareReady: false,
    onWarning: () => {},
  });
  for (let key = 0; key < KEYS; key++) assert.equal(await root.rooms(key).enter(), 1);
  puppets.started[0]?.ends("it was killed");
  const entered = Promise.all(Array.from({ length: KEYS }, (_, key) => root.rooms(key).enter()));
  await said();
  assert.equal(puppets.started.length, 3);
  await pass(START_MS);
  assert.ok(puppets.started.slice(0, 3).every(({ isKilled }) => isKilled));
  for (const puppet of puppets.started.slice(3)) puppet.ready();
  assert.deepEqual(await entered, new Array(KEYS).fill(2));
  await stop();
});

test("when no host gets ready any more, the program says so instead of waiting, and blames no event", async (t) => {
  const pass = clock(t);
  const puppets = new Puppets(Hotel, new MemoryJournal());
  const failures: HeadwaterError[] = [];
  const { root, stop } = await puppets.run(Hotel, {
    hosts: 1,
    hostStartTimeoutMs: START_MS,
    isSpareReady: false,
    onFailure: (error) => void failures.push(error),
    onWarning: () => {},
  });
  assert.equal(await root.rooms(1).enter(), 1);
  puppets.started[0]?.ends("it was killed");
  const entered = assert.rejects(root.rooms(1).enter(), {
    code: "HW-6001",
    message: /not ready after 1000 ms\) 5 times/,
  });
  for (let i = 0; i < 5; i++) await pass(START_MS);
  await entered;
  assert.equal(failures.length, 1);
  await stop();
});

test("a host that hangs while it is added is refused and ended, and the others go on", async (t) => {
  const pass = clock(t);
  const puppets = new Puppets(Hotel, null);
  const service = await puppets.run(Hotel, { hosts: 1, hostStartTimeoutMs: START_MS });
  const added = assert.rejects(hostsOf(service).add(), { code: "HW-6008", message: /host 1 could not/ });
  await pass(START_MS);
  await added;
  assert.ok(puppets.last.isKilled);
  assert.deepEqual(
    hostsOf(service)
      .list()
      .map(({ id }) => id),
    [0],
  );
  assert.equal(await service.root.rooms(1).enter(), 1);
  await service.stop();
});

test("a time to start that is no time is refused", async () => {
  const module = new URL("./programs/never-loads.ts", import.meta.url).href;
  await assert.rejects(run(Patience, { hosts: 2, module, hostStartTimeoutMs: 0 }), { code: "HW-6002" });
});
