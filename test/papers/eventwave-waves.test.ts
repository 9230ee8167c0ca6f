import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, readonly, run } from "headwater";
import { Gates, turns, watch } from "../gates.js";
import { refused } from "../refused.js";

/** EventWave, sections 3.2.2 and 3.3: how the waves of events go down the tree (figures 9 and 10). */

let gates = new Gates();
/** Who has got into which context, in order. */
let entered: string[] = [];
beforeEach(() => {
  gates = new Gates();
  entered = [];
});

class Room extends Context<number> {
  kids = new Set<number>([7]);
  async moveOut(kid: number) {
    entered.push("e in R");
    await gates.pass("e in R");
    return this.kids.delete(kid);
  }
  async moveOutAndGiveUp(kid: number) {
    const wasHere = this.kids.delete(kid);
    this.downgrade();
    await gates.pass("e gave up R");
    return wasHere;
  }
  visit(who: string) {
    entered.push(`${who} in R`);
    return this.kids.size;
  }
  async callUp() {
    await (this.above(Building) as unknown as { visit(who: string): Promise<void> }).visit("nobody");
  }
}
class Hallway extends Context {
  kids = new Set<number>();
  async moveIn(kid: number) {
    entered.push("e in H");
    await gates.pass("e in H");
    this.kids.add(kid);
  }
  visit(who: string) {
    entered.push(`${who} in H`);
    return this.kids.size;
  }
}
class Building extends Context<number> {
  moves = 0;
  rooms = this.children(Room);
  hallway = this.child(Hallway);

  /** Figure 8, with a gate at each step of figure 9. */
  async relocate(kid: number) {
    this.moves += 1;
    entered.push("e in B");
    await gates.pass("e in B");
    this.downgrade();
    await gates.pass("e gave up B");
    await this.rooms(0).moveOut(kid);
    await this.hallway.moveIn(kid);
    return this.moves;
  }
  async relocateGivingUp(kid: number) {
    this.downgrade();
    await this.rooms(0).moveOutAndGiveUp(kid);
    await this.hallway.moveIn(kid);
  }
  visit(who: string) {
    entered.push(`${who} in B${this.key}`);
    this.moves += 10;
    return this.moves;
  }
  async visitRoom(who: string) {
    this.visit(who);
    return this.rooms(0).visit(who);
  }
  async downgradeTooEarly() {
    await this.rooms(0).moveOutAndGiveUp(7);
  }
  async enterTwice() {
    this.downgrade();
    await this.rooms(0).moveOutAndGiveUp(7);
    await this.rooms(0).visit("again");
  }
  startInRoom() {
    this.event.start(this.rooms(0)).callUp();
  }
  @readonly look() {
    return this.moves;
  }
}
class Game extends Context {
  buildings = this.children(Building);
}

test("figure 9: step by step, later events get into what e has left and wait for what it may still need", async () => {
  const { root, stop } = await run(Game);
  const b1 = root.buildings(1);
  const e = b1.relocate(7);
  await gates.reached("e in B");
  const visits = [b1.visit("x"), b1.rooms(0).visit("y"), b1.hallway.visit("z"), root.buildings(0).visit("w")];
  await turns();
  assert.deepEqual(entered, ["e in B", "w in B0"], "(1) e holds B1; B0 was never its business");
  gates.open("e in B");
  await gates.reached("e gave up B");
  await turns();
  assert.deepEqual(entered.slice(2), ["x in B1"], "(2) B1 is free, R and H are still ahead of e");
  gates.open("e gave up B");
  await gates.reached("e in R");
  await turns();
  assert.deepEqual(entered.slice(3), ["e in R"], "(3) e holds R");
  gates.open("e in R");
  await gates.reached("e in H");
  await turns();
  assert.deepEqual(entered.slice(4), ["e in H"], "(4) e holds R and H");
  gates.open("e in H");
  assert.equal(await e, 1);
  assert.deepEqual(await Promise.all(visits), [11, 0, 1, 10], "(5) and now everybody sees all of it");
  assert.deepEqual(new Set(entered.slice(5)), new Set(["y in R", "z in H"]));
  await stop();
});

test("figure 9: a room that e has given up is free while e is still in the hallway", async () => {
  const { root, stop } = await run(Game);
  const b1 = root.buildings(1);
  const e = b1.relocateGivingUp(7);
  await gates.reached("e gave up R");
  gates.open("e gave up R");
  await gates.reached("e in H");
  const visit = b1.rooms(0).visit("y");
  await turns();
  assert.deepEqual(entered, ["e in H", "y in R"]);
  gates.open("e in H");
  assert.equal(await visit, 0);
  await e;
  await stop();
});

test("figure 10: e goes on reading what it gave up as it was, while e' changes it, and e' stays above e", async () => {
  const { root, stop } = await run(Game);
  const b1 = root.buildings(1);
  gates.open("e in B", "e gave up B", "e in H");
  const e = b1.relocate(7);
  await gates.reached("e in R");
  const later = b1.visitRoom("e'");
  const watched = watch(later);
  await turns();
  assert.deepEqual(entered, ["e in B", "e in R", "e' in B1"]);
  assert.equal(watched.settled, false);
  gates.open("e in R");
  assert.equal(await e, 1, "e' has made it 11, which e does not see");
  assert.equal(await later, 0);
  assert.equal(await b1.look(), 11);
  await stop();
});

test("§3.2.2 an event may only acquire contexts below one it holds", async () => {
  const { root, stop } = await run(Game);
  await refused(
    root.buildings(1).rooms(0).callUp(),
    "HW-1001",
    "Game.buildings(1).rooms(0)",
    "Game.buildings(1).visit",
  );
  assert.equal(await root.buildings(1).look(), 0);
  await stop();
});

test("§3.2.2 once an event has released write access it cannot acquire the context again", async () => {
  const { root, stop } = await run(Game);
  gates.open("e gave up R");
  await refused(root.buildings(1).enterTwice(), "HW-1003", "Game.buildings(1).rooms(0).visit");
  assert.equal(await root.buildings(1).rooms(0).visit("later"), 1, "and what it did is undone");
  await stop();
});

test("§3.2.2 a context cannot be downgraded before its ancestors: the trailing wave does not pass the leading one", async () => {
  const { root, stop } = await run(Game);
  await refused(
    root.buildings(1).downgradeTooEarly(),
    "HW-1004",
    "Game.buildings(1).rooms(0)",
    "Game.buildings(1)",
  );
  await stop();
});

test("§3.2.2 absent downgrades, an event releases its contexts only when it completes", async () => {
  const { root, stop } = await run(Game);
  const b1 = root.buildings(1);
  const visiting = b1.rooms(0).moveOut(7);
  await gates.reached("e in R");
  const others = [b1.rooms(0).visit("y"), b1.visitRoom("x")];
  const watched = others.map(watch);
  await turns();
  assert.deepEqual(watched, [{ settled: false }, { settled: false }]);
  gates.open("e in R");
  assert.equal(await visiting, true);
  assert.deepEqual(await Promise.all(others), [0, 0]);
  await stop();
});

test("§3.2.2 an event that another one starts owns only the context of its own first method", async () => {
  const failures: unknown[] = [];
  const service = await run(Game, { onError: ({ error }) => failures.push(error) });
  await service.root.buildings(1).startInRoom();
  await service.idle();
  assert.equal(failures.length, 1);
  assert.match(String(failures[0]), /HW-1001/);
  await service.stop();
});
