import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";

/** DESIGN.md, the contract, line 6: who waits for whom before the outside hears of it. */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Log extends Context {
  lines: string[] = [];
  write(line: string) {
    this.lines.push(line);
  }
  @readonly read() {
    return this.lines;
  }
}
class Room extends Context<number> {
  visits = 0;
  async visit(gate?: string) {
    if (gate !== undefined) await gates.pass(gate);
    this.visits += 1;
    return this.visits;
  }
  async tell(client: string, text: string, gate?: string) {
    if (gate !== undefined) await gates.pass(gate);
    this.event.send(client, text);
  }
  async post(text: string, gate?: string) {
    if (gate !== undefined) await gates.pass(gate);
    this.event.send(this.event.peer(Log)).write(text);
  }
}
class House extends Context {
  guests = 0;
  rooms = this.children(Room);

  /** Gives the house up with its new number of guests, then goes on below. */
  async welcome(gate: string, fails = false) {
    this.guests += 1;
    this.downgrade();
    await this.rooms(0).visit(gate);
    if (fails) throw new Error("not welcome");
  }
  count() {
    this.guests += 10;
    return this.guests;
  }
  @readonly look() {
    return this.guests;
  }
}

test("line 6: two requests in flight on different contexts do not hold each other up", async () => {
  const { root, stop } = await run(House);
  const slow = root.rooms(1).visit("slow");
  await gates.reached("slow");
  const watched = watch(slow);
  assert.equal(await root.rooms(2).visit(), 1);
  assert.equal(await root.rooms(2).visit(), 2);
  assert.equal(watched.settled, false);
  gates.open("slow");
  assert.equal(await slow, 1);
  await stop();
});

test('line 6: with commitOrder "total", a reply waits for all earlier events', async () => {
  const { root, stop } = await run(House, { commitOrder: "total" });
  const order: string[] = [];
  const slow = root.rooms(1).visit("slow");
  const quick = root.rooms(2).visit("quick");
  for (const [name, reply] of [["slow", slow], ["quick", quick]] as const) void reply.then(() => order.push(name)); // biome-ignore format: short
  await gates.reached("slow");
  await gates.reached("quick");
  gates.open("quick");
  await turns();
  assert.deepEqual(order, []);
  gates.open("slow");
  await Promise.all([slow, quick]);
  assert.deepEqual(order, ["slow", "quick"]);
  await stop();
});

test("line 6: a reply waits for the event whose uncommitted state it has seen", async () => {
  const { root, stop } = await run(House);
  const first = root.welcome("inside");
  await gates.reached("inside");
  const count = root.count();
  const look = root.look();
  const [watchedCount, watchedLook] = [watch(count), watch(look)];
  await turns();
  assert.deepEqual([watchedCount.settled, watchedLook.settled], [false, false]);
  gates.open("inside");
  assert.deepEqual(await Promise.all([count, look]), [11, 11]);
  await first;
  await stop();
});

test("line 6: when that event fails, those who saw its state are run again and answer without it", async () => {
  const { root, stop } = await run(House);
  const first = root.welcome("inside", true);
  await gates.reached("inside");
  const replies = [root.count(), root.look(), root.count()];
  await turns();
  gates.open("inside");
  await assert.rejects(first, /not welcome/);
  assert.deepEqual(await Promise.all(replies), [10, 10, 20]);
  assert.equal(await root.look(), 20);
  await stop();
});

test("line 6: a client hears a logical node's messages in ticket order, replies need not wait for them", async () => {
  const service = await run(House);
  const { root } = service;
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  const slow = root.rooms(1).tell("ada", "one", "slow");
  await gates.reached("slow");
  await root.rooms(2).tell("ada", "two");
  await root.rooms(3).tell("ada", "three");
  await turns();
  assert.deepEqual(heard, []);
  gates.open("slow");
  await slow;
  await service.idle();
  assert.deepEqual(heard, ["one", "two", "three"]);
  await service.stop();
});

test("line 6: a message waits for every earlier ticket, because that event may still send to the same client", async () => {
  const service = await run(House);
  const { root } = service;
  const heard: unknown[] = [];
  service.client("bob", (message) => heard.push(message));
  const slow = root.rooms(1).visit("slow");
  await gates.reached("slow");
  await root.rooms(2).tell("bob", "hello");
  await turns();
  assert.deepEqual(heard, []);
  gates.open("slow");
  await slow;
  await service.idle();
  assert.deepEqual(heard, ["hello"]);
  await service.stop();
});

test("line 6: one logical node gets another's messages once and in the order of their tickets", async () => {
  const service = await run({ house: House, log: Log });
  const { house, log } = service.nodes;
  const slow = house.rooms(0).post("one", "slow");
  await gates.reached("slow");
  const rest = [];
  for (const [i, text] of ["two", "three", "four", "five"].entries())
    rest.push(house.rooms(i + 1).post(text));
  await Promise.all(rest);
  await turns();
  assert.deepEqual(await log.read(), []);
  gates.open("slow");
  await slow;
  await service.idle();
  assert.deepEqual(await log.read(), ["one", "two", "three", "four", "five"]);
  await service.stop();
});

test("line 6: a failed event does not hold back the messages behind it", async () => {
  const service = await run(House);
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  const failing = service.root.welcome("inside", true);
  await gates.reached("inside");
  const told = service.root.rooms(2).tell("ada", "still here");
  gates.open("inside");
  await assert.rejects(failing);
  await told;
  await service.idle();
  assert.deepEqual(heard, ["still here"]);
  await service.stop();
});

test("line 6: a client whose message handler throws harms neither the logical node nor other clients", async () => {
  const service = await run(House);
  const heard: unknown[] = [];
  service.client("ada", (message) => {
    heard.push(message);
    throw new Error("ada is broken");
  });
  service.client("bob", (message) => heard.push(message));
  await service.root.rooms(1).tell("ada", "one");
  await service.root.rooms(1).tell("bob", "two");
  await turns();
  assert.deepEqual(heard, ["one", "two"]);
  assert.equal(await service.root.rooms(1).visit(), 1);
  await service.stop();
});
