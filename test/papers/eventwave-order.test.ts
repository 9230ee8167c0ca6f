import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";

/** EventWave, sections 3.3 and 4.3: events appear to execute one by one in ticket order (figure 12). */

let gates = new Gates();
let entered: string[] = [];
beforeEach(() => {
  gates = new Gates();
  entered = [];
});

class Room extends Context<number> {
  visitors: string[] = [];
  inside = 0;

  async visit(who: string, gate?: string) {
    entered.push(`${who} in room ${this.key}`);
    this.visitors.push(who);
    if (gate !== undefined) await gates.pass(gate);
    return this.visitors;
  }
  async visitAndGiveUp(who: string, gate: string) {
    this.visitors.push(who);
    this.downgrade();
    await gates.pass(gate);
    return this.visitors;
  }
  async visitAndStart(who: string) {
    this.visitors.push(who);
    this.event.start(this.above(Room)).visit(`started by ${who}`);
  }
  async alone() {
    this.inside += 1;
    await turns(1);
    const together = this.inside;
    this.inside -= 1;
    return together;
  }
}
class Building extends Context<number> {
  rooms = this.children(Room);
  async descendGivingUp(who: string, gate: string) {
    this.downgrade();
    return this.rooms(0).visitAndGiveUp(who, gate);
  }
}
class Game extends Context {
  events: string[] = [];
  buildings = this.children(Building);

  async descend(who: string, gate: string, room = 0) {
    entered.push(`${who} in game`);
    this.events.push(who);
    await gates.pass(gate);
    return this.buildings(0).rooms(room).visit(who);
  }
  async descendGivingUp(who: string, gate: string) {
    this.downgrade();
    return this.buildings(0).descendGivingUp(who, gate);
  }
}

test("figure 12, left: e2 starts below e1 and does not get there first, though e1 arrives late", async () => {
  const { root, stop } = await run(Game);
  const e1 = root.descend("e1", "e1 in game");
  await gates.reached("e1 in game");
  const e2 = root.buildings(0).rooms(0).visit("e2");
  await turns();
  assert.deepEqual(entered, ["e1 in game"]);
  gates.open("e1 in game");
  assert.deepEqual(await e1, ["e1"]);
  assert.deepEqual(await e2, ["e1", "e2"]);
  await stop();
});

test("figure 12, right: e2 gets the context as soon as e1 has downgraded it", async () => {
  const { root, stop } = await run(Game);
  const e1 = root.descendGivingUp("e1", "e1 gave up");
  await gates.reached("e1 gave up");
  const e2 = root.buildings(0).rooms(0).visit("e2", "e2 inside");
  await gates.reached("e2 inside");
  gates.open("e1 gave up", "e2 inside");
  assert.deepEqual(await e1, ["e1"], "e1 sees its own snapshot");
  assert.deepEqual(await e2, ["e1", "e2"]);
  await stop();
});

test("§3.3 events in different contexts execute in parallel", async () => {
  const { root, stop } = await run(Game);
  const room = (n: number) => root.buildings(0).rooms(n);
  const visits = [1, 2, 3].map((n) => room(n).visit("x", `in ${n}`));
  await Promise.all([1, 2, 3].map((n) => gates.reached(`in ${n}`)));
  gates.open("in 3", "in 1", "in 2");
  await Promise.all(visits);
  await stop();
});

test("§4.3 (a) only one event is in a context at a time", async () => {
  const { root, stop } = await run(Game);
  const room = root.buildings(0).rooms(0);
  const together = await Promise.all(Array.from({ length: 10 }, () => room.alone()));
  assert.deepEqual(new Set(together), new Set([1]));
  await stop();
});

test("§4.3 (b) events access contexts in ticket order, whatever level they start at", async () => {
  const { root, stop } = await run(Game);
  const room = root.buildings(0).rooms(0);
  const requests = [];
  for (let i = 0; i < 12; i++) {
    const who = `e${i}`;
    gates.open(who);
    if (i % 3 === 0) requests.push(root.descend(who, who));
    else if (i % 3 === 1) requests.push(room.visit(who));
    else requests.push(root.buildings(0).descendGivingUp(who, who));
  }
  await Promise.all(requests);
  assert.deepEqual(await room.visit("last"), [...Array.from({ length: 12 }, (_, i) => `e${i}`), "last"]);
  await stop();
});

test("§4.3 tickets 7 to 11: events below a passing one wait for it only, and go ahead together", async () => {
  const { root, stop } = await run(Game);
  const room = (n: number) => root.buildings(0).rooms(n);
  const e7 = root.descend("e7", "e7 in game");
  const e8 = room(1).visit("e8", "e8 in room");
  const e9 = room(2).visit("e9", "e9 in room");
  const e10 = root.descend("e10", "e10 in game", 1);
  const e11 = room(3).visit("e11");
  await gates.reached("e7 in game");
  await turns();
  assert.deepEqual(entered, ["e7 in game"]);
  gates.open("e7 in game");
  await Promise.all([gates.reached("e8 in room"), gates.reached("e9 in room"), gates.reached("e10 in game")]);
  await turns();
  assert.ok(!entered.includes("e11 in room 3"), "it may not pass e10");
  gates.open("e10 in game", "e9 in room");
  await turns();
  assert.ok(!entered.includes("e10 in room 1"), "e10 waits below for e8");
  gates.open("e8 in room");
  assert.deepEqual(await Promise.all([e7, e8, e9, e10, e11]), [
    ["e7"],
    ["e8"],
    ["e9"],
    ["e8", "e10"],
    ["e11"],
  ]);
  await stop();
});

test("§3.3 in the paper's commit order, an event that has completed waits for all earlier ones to commit", async () => {
  const service = await run(Game, { commitOrder: "total" });
  const room = (n: number) => service.root.buildings(0).rooms(n);
  const e1 = room(1).visit("e1", "e1 inside");
  const e2 = room(2).visitAndStart("e2");
  const watched = watch(e2);
  await gates.reached("e1 inside");
  await turns();
  assert.equal(watched.settled, false);
  assert.ok(
    !entered.includes("started by e2 in room 2"),
    "new events are delayed until after the commit too",
  );
  gates.open("e1 inside");
  await Promise.all([e1, e2]);
  await service.idle();
  assert.deepEqual(await room(2).visit("last"), ["e2", "started by e2", "last"]);
  await service.stop();
});

test("§3.3 an event triggered by an asynchronous call starts and completes after its parent", async () => {
  const service = await run(Game);
  const room = service.root.buildings(0).rooms(0);
  const [, , third] = await Promise.all([room.visitAndStart("e1"), room.visit("e2"), room.visit("e3")]);
  assert.ok(third.indexOf("e1") < third.indexOf("e2") && third.indexOf("e2") < third.indexOf("e3"));
  await service.idle();
  const all = await room.visit("last");
  assert.ok(all.indexOf("started by e1") > all.indexOf("e1"));
  assert.deepEqual([...all].sort(), ["e1", "e2", "e3", "last", "started by e1"]);
  await service.stop();
});
