import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { AnonymousContext, Context, readonly, run, tracked } from "headwater";
import { Gates } from "../gates.js";
import { refused } from "../refused.js";

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Adder extends AnonymousContext {
  giveUp(a: number) {
    this.downgrade();
    return a + 1;
  }
}
class Room extends Context<number> {
  visits = 0;
  enter() {
    this.visits += 1;
    return this.visits;
  }
  enterAndGiveUp() {
    this.visits += 1;
    this.downgrade();
    return this.visits;
  }
  @readonly look() {
    return this.visits;
  }
}
class Building extends Context<number> {
  log: string[] = [];
  rooms = this.children(Room);
  adder = this.child(Adder);

  note(line: string) {
    this.log.push(line);
    return this.log.length;
  }
  giveUp() {
    this.log.push("given up");
    this.downgrade();
  }
  async enterAgain() {
    this.downgrade();
    await this.rooms(1).enterAndGiveUp();
    await this.rooms(1).enter();
  }
  async enterAgainInParallel() {
    this.downgrade();
    await Promise.all([this.rooms(1).enterAndGiveUp(), this.rooms(1).enter()]);
  }
  async lookAgain() {
    this.downgrade();
    await this.rooms(1).enterAndGiveUp();
    return this.rooms(1).look();
  }
  async giveUpBelow() {
    await this.rooms(1).enterAndGiveUp();
  }
  changeAfterwards() {
    this.log.push("before");
    this.downgrade();
    this.log.push("after");
  }
  armAfterwards() {
    this.downgrade();
    this.event.after(1000, this.note, "never");
  }
  async readAfterwards() {
    this.log.push("mine");
    this.downgrade();
    await gates.pass("given up");
    return [...this.log];
  }
  giveUpTwice() {
    this.log.push("once");
    this.downgrade();
    this.downgrade();
    return this.log.length;
  }
  async callBelowAfterwards() {
    this.downgrade();
    this.event.send("ada", "still here");
    this.event.start(this.rooms(3)).enter();
    return (await this.rooms(1).enter()) + (await this.rooms(2).enter()) + (await this.adder.giveUp(1));
  }
  @readonly peek() {
    this.downgrade();
  }
  @readonly read() {
    return this.log;
  }
}
class Game extends Context {
  buildings = this.children(Building);

  async enterAgain() {
    this.downgrade();
    await this.buildings(1).giveUp();
    await this.buildings(1).note("again");
  }
  async giveUpBelow() {
    await this.buildings(1).giveUp();
  }
  /** The building in between was never entered, so only the game is in the way. */
  async giveUpTwoBelow(first: boolean) {
    if (first) this.downgrade();
    return this.buildings(1).rooms(1).enterAndGiveUp();
  }
  async aroundWhatIsGivenUp() {
    this.downgrade();
    await this.buildings(1).giveUp();
    return this.buildings(1).rooms(1).enter();
  }
}

test("HW-1003: a context that an event has given up cannot be entered by it again", async () => {
  const { root, stop } = await run(Game);
  const building = root.buildings(1);
  await refused(building.enterAgain(), "HW-1003", "Game.buildings(1).rooms(1).enter", "given up");
  await refused(building.enterAgainInParallel(), "HW-1003", "Game.buildings(1).rooms(1).enter");
  await refused(building.lookAgain(), "HW-1003", "Game.buildings(1).rooms(1).look");
  await refused(root.enterAgain(), "HW-1003", "Game.buildings(1).note");
  assert.equal(await building.rooms(1).look(), 0);
  assert.deepEqual(await building.read(), []);
  await stop();
});

test("HW-1004: a context cannot be given up while one above it is held", async () => {
  const { root, stop } = await run(Game);
  await refused(
    root.buildings(1).giveUpBelow(),
    "HW-1004",
    "Game.buildings(1).rooms(1)",
    "holds Game.buildings(1)",
  );
  await refused(root.giveUpBelow(), "HW-1004", "Game.buildings(1)", "holds Game above");
  await refused(root.giveUpTwoBelow(false), "HW-1004", "Game.buildings(1).rooms(1)", "holds Game above");
  assert.equal(await root.giveUpTwoBelow(true), 1);
  await stop();
});

test("HW-1009: a context that was given up cannot be changed, and the event changes nothing at all", async () => {
  const { root, stop } = await run(Game);
  await refused(root.buildings(1).changeAfterwards(), "HW-1009", "Game.buildings(1)", "log");
  await refused(root.buildings(1).armAfterwards(), "HW-1021", "Game.buildings(1)", "given it up");
  assert.deepEqual(await root.buildings(1).read(), []);
  await stop();
});

test("HW-1019: a read-only event has nothing to give up", async () => {
  const { root, stop } = await run(Game);
  await refused(root.buildings(1).peek(), "HW-1019", "Game.buildings(1)");
  await stop();
});

test("what was given up can still be read, as it was, whatever later events make of it", async () => {
  const { root, stop } = await run(Game);
  const building = root.buildings(1);
  const reading = building.readAfterwards();
  await gates.reached("given up");
  const later = building.note("theirs");
  gates.open("given up");
  assert.deepEqual(await reading, ["mine"]);
  assert.equal(await later, 2);
  assert.deepEqual(await building.read(), ["mine", "theirs"]);
  await stop();
});

test("contexts below can still be called, effects asked for, and giving up twice does no harm", async () => {
  const service = await run(Game);
  const heard: unknown[] = [];
  service.client("ada", (message) => heard.push(message));
  const building = service.root.buildings(1);
  assert.equal(await building.callBelowAfterwards(), 4);
  await service.idle();
  assert.deepEqual(heard, ["still here"]);
  assert.equal(await building.rooms(3).look(), 1);
  assert.equal(await building.giveUpTwice(), 1);
  assert.equal(await service.root.aroundWhatIsGivenUp(), 2);
  await service.stop();
});

class Belt extends Context {
  parts = tracked.list<number>();

  put(part: number) {
    this.parts.push(part);
  }

  /** What comes in goes out: in the end nothing has changed. */
  async turn() {
    this.downgrade();
    await gates.pass("turned");
    this.parts.push(1);
    this.parts.shift();
    return [...this.parts];
  }

  @readonly all() {
    return [...this.parts];
  }
}

test("what is changed back after it was given up is no change, and takes nothing from later events", async () => {
  const { root, stop } = await run(Belt);
  await root.put(1);
  const turning = root.turn();
  await gates.reached("turned");
  const later = root.put(2);
  gates.open("turned");
  assert.deepEqual(await turning, [1]);
  await later;
  assert.deepEqual(await root.all(), [1, 2]);
  await stop();
});
