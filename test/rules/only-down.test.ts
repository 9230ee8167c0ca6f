import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, type Elsewhere, type Ref, readonly, run } from "headwater";
import { refused } from "../refused.js";

/** The contract, line 4: an event touches the context it started in and those below contexts it holds. */

/** The compiler refuses these calls already; plain JavaScript finds them refused when they are made. */
function callable<T>(elsewhere: Elsewhere<T>): Ref<T> {
  return elsewhere as unknown as Ref<T>;
}

class Game extends Context {
  score = 0;
  buildings = this.children(Building);

  win() {
    this.score += 1;
  }
  /** Reaches over the building into one of its rooms. */
  reachDown(building: number, room: number) {
    return this.buildings(building).rooms(room).paint("from above");
  }
  async letRoomTry(method: "callUp" | "callSibling") {
    return this.buildings(1).rooms(2)[method]();
  }
  @readonly look() {
    return this.score;
  }
}
class Building extends Context<number> {
  doors = 0;
  rooms = this.children(Room);

  open() {
    this.doors += 1;
  }
  callOwn() {
    return callable(this.above(Building)).open();
  }
  callSiblingsRoom() {
    return callable(this.above(Game).buildings(2).rooms(0)).paint("red");
  }
  @readonly look() {
    return this.doors;
  }
}
class Room extends Context<number> {
  colour = "white";

  paint(colour: string) {
    this.colour = colour;
    return colour;
  }
  async callUp() {
    this.colour = "touched";
    await callable(this.above(Building)).open();
  }
  async callRoot() {
    await callable(this.above(Game)).win();
  }
  async callSibling() {
    this.colour = "touched";
    await callable(this.above(Building).rooms(9)).paint("red");
  }
  async callUncle() {
    await callable(this.above(Game).buildings(7)).open();
  }
  async tryUpAndGoOn() {
    const refusal = await callable(this.above(Building))
      .open()
      .catch((error: Error) => error.message.slice(0, 7));
    this.colour = `after ${refusal}`;
    return this.colour;
  }
  startElsewhere() {
    this.event.start(this.above(Building)).open();
    this.event.start(this.above(Game)).win();
    this.event.start(this.above(Building).rooms(9)).paint("later");
  }
  @readonly look() {
    return this.colour;
  }
}

test("HW-1001: a context above cannot be called; the error names both contexts, the method and the rule", async () => {
  const { root, stop } = await run(Game);
  const room = root.buildings(1).rooms(2);
  const rule = "only call contexts below";
  await refused(room.callUp(), "HW-1001", "Game.buildings(1).rooms(2)", "Game.buildings(1).open", rule);
  await refused(room.callRoot(), "HW-1001", "Game.buildings(1).rooms(2)", "Game.win", rule);
  assert.equal(await room.look(), "white");
  assert.equal(await root.buildings(1).look(), 0);
  await stop();
});

test("HW-1001: nor when the event holds that context, or when a call brought it here", async () => {
  const { root, stop } = await run(Game);
  await refused(root.letRoomTry("callUp"), "HW-1001", "Game.buildings(1).rooms(2)", "Game.buildings(1).open");
  await refused(root.letRoomTry("callSibling"), "HW-1002", "Game.buildings(1).rooms(2)", "rooms(9).paint");
  assert.equal(await root.buildings(1).rooms(2).look(), "white");
  await stop();
});

test("HW-1001: a context cannot call itself through a reference", async () => {
  const { root, stop } = await run(Game);
  await refused(root.buildings(1).callOwn(), "HW-1001", "Game.buildings(1)", "open", "this.open");
  await stop();
});

test("HW-1002: a context beside this one, below a sibling, or beside its parent cannot be called", async () => {
  const { root, stop } = await run(Game);
  const room = root.buildings(1).rooms(2);
  await refused(
    room.callSibling(),
    "HW-1002",
    "Game.buildings(1).rooms(2)",
    "Game.buildings(1).rooms(9).paint",
  );
  await refused(room.callUncle(), "HW-1002", "Game.buildings(1).rooms(2)", "Game.buildings(7).open");
  await refused(
    root.buildings(1).callSiblingsRoom(),
    "HW-1002",
    "Game.buildings(1)",
    "Game.buildings(2).rooms(0)",
  );
  assert.equal(await root.buildings(1).rooms(9).look(), "white");
  await stop();
});

test("a refused call is an error like others: the event may catch it and go on", async () => {
  const { root, stop } = await run(Game);
  assert.equal(await root.buildings(1).rooms(2).tryUpAndGoOn(), "after HW-1001");
  assert.equal(await root.buildings(1).rooms(2).look(), "after HW-1001");
  await stop();
});

test("contexts any number of levels below may be called, and later events may be started anywhere", async () => {
  const service = await run(Game);
  const { root } = service;
  assert.equal(await root.reachDown(3, 4), "from above");
  assert.equal(await root.buildings(3).rooms(4).look(), "from above");
  await root.buildings(1).rooms(2).startElsewhere();
  await service.idle();
  assert.equal(await root.buildings(1).look(), 1);
  assert.equal(await root.look(), 1);
  assert.equal(await root.buildings(1).rooms(9).look(), "later");
  await service.stop();
});
