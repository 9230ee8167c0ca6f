import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Context, type HeadwaterError, MemoryJournal, type RunOptions } from "headwater";
import type { Ticket } from "#src/core/event.js";
import { Gates } from "../gates.js";
import { clock, Puppets, said, type Times } from "./puppets.js";

let gates = new Gates();

class Room extends Context<number> {
  guests = 0;
  enter() {
    this.guests += 1;
    return this.guests;
  }
  async knock() {
    this.guests += 1;
    await gates.pass("door");
    return this.guests;
  }
}
class Hotel extends Context {
  rooms = this.children(Room);
}

async function hotel(t: TestContext, times: Times) {
  gates = new Gates();
  const pass = clock(t);
  const warnings: HeadwaterError[] = [];
  const puppets = new Puppets(Hotel, new MemoryJournal());
  const options: RunOptions = { onWarning: (warning) => void warnings.push(warning) };
  const service = await puppets.run(Hotel, { ...options, ...times, hosts: 1, isSpareReady: false });
  const slow = () => warnings.filter(({ code }) => code === "HW-6006").map(({ message }) => message);
  return { ...service, pass, puppets, slow };
}

/** The host is lost, and another takes its place as soon as it is ready. */
async function lose(puppets: Puppets): Promise<void> {
  puppets.started.find((host) => host.isReady && !host.isKilled)?.ends("it was killed");
  await said();
}

test("an event does not take longer than it may while its host is being replaced", async (t) => {
  const { root, stop, pass, puppets } = await hotel(t, { eventTimeoutMs: 400 });
  await lose(puppets);
  const knocked = root.rooms(1).knock();
  await said();
  await pass(20_000);
  puppets.last.ready();
  await gates.reached("door");
  await pass(300);
  gates.open("door");
  assert.equal(await knocked, 1);
  await stop();
});

test("when its host is there, an event that takes longer than it may fails", async (t) => {
  const { root, stop, pass, puppets } = await hotel(t, { eventTimeoutMs: 400 });
  await lose(puppets);
  const knocked = assert.rejects(root.rooms(1).knock(), { code: "HW-6007", message: /after 400 ms/ });
  await said();
  await pass(20_000);
  puppets.last.ready();
  await gates.reached("door");
  await pass(400);
  await knocked;
  assert.equal(await root.rooms(1).enter(), 1);
  await stop();
});

test("events that wait for a host that takes long to start are not called slow; the host is, once", async (t) => {
  const { root, stop, pass, puppets, slow } = await hotel(t, { slowEventMs: 500 });
  await lose(puppets);
  const entered = Promise.all([root.rooms(1).enter(), root.rooms(2).enter(), root.rooms(3).enter()]);
  await said();
  await pass(400);
  assert.deepEqual(slow(), []);
  await pass(5000);
  assert.equal(slow().length, 1);
  assert.match(
    slow()[0] ?? "",
    /HW-6006: host 0 has been starting for \d+ ms, and 3 events wait for it, Hotel\.rooms\(\d\)\.enter\(…\) among/,
  );
  puppets.last.ready();
  assert.deepEqual(await entered, [1, 1, 1]);
  await lose(puppets);
  const again = root.rooms(1).enter();
  await said();
  await pass(5000);
  assert.match(slow()[1] ?? "", /and Hotel\.rooms\(1\)\.enter\(…\) waits for it\.$/);
  puppets.last.ends("it was killed, too");
  await pass(5000);
  puppets.last.ready();
  assert.equal(await again, 2);
  assert.equal(slow().length, 2);
  await stop();
});

test("an event that had to wait for its host is called slow when it has run for long", async (t) => {
  const { root, stop, pass, puppets, slow } = await hotel(t, { slowEventMs: 500 });
  await lose(puppets);
  root
    .rooms(1)
    .knock()
    .catch(() => {});
  await said();
  await pass(600);
  puppets.last.ready();
  await gates.reached("door");
  await pass(250);
  assert.equal(slow().length, 1);
  await pass(600);
  assert.match(
    slow()[1] ?? "",
    /rooms\(1\)\.knock\(…\) has been running for 500 ms on host 0, and waits there/,
  );
  await stop({ graceMs: 0 });
});

test("the time in which one event blocks its host counts for that one, and not for its neighbours", async (t) => {
  const { root, stop, pass, puppets } = await hotel(t, { eventTimeoutMs: 400, hostTimeoutMs: 10_000 });
  const [host] = puppets.started;
  assert.ok(host);
  const blocking = assert.rejects(root.rooms(1).knock(), { code: "HW-6007" });
  const knocked = root.rooms(2).knock();
  await gates.reached("door");
  host.at = [0, 1 as Ticket]; // the first event of the first logical node
  host.answers = false;
  await pass(2000);
  host.answers = true;
  host.catchUp();
  await pass(100);
  await blocking;
  gates.open("door");
  assert.equal(await knocked, 1);
  await stop();
});
