import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Context, type Ref, readonly, run } from "headwater";
import { Gates, turns } from "../gates.js";
import { refusedAtOnce } from "../refused.js";

/** EventWave, sections 3.1 and 3.2.1: contexts, their tree, and the methods bound to them (figures 3 to 8). */

let gates = new Gates();
beforeEach(() => {
  gates = new Gates();
});

class Room extends Context<number> {
  kidsInRoom = new Set<number>();
  enter(kid: number) {
    this.kidsInRoom.add(kid);
  }
  async moveOut(kid: number) {
    const wasHere = this.kidsInRoom.delete(kid);
    await gates.pass("moved out");
    return wasHere;
  }
  @readonly kids() {
    return [...this.kidsInRoom];
  }
}
class Hallway extends Context {
  hallwayMap: number[][] = [[0]];
  kidsInHallway = new Set<number>();
  moveIn(kid: number) {
    this.kidsInHallway.add(kid);
  }
  @readonly kids() {
    return [...this.kidsInHallway];
  }
}
class Building extends Context<number> {
  rooms = this.children(Room);
  hallway = this.child(Hallway);

  /** Figure 8. */
  async relocate(kid: number, room: number) {
    this.downgrade();
    if (await this.rooms(room).moveOut(kid)) await this.hallway.moveIn(kid);
  }
  @readonly async whereIs(kid: number, rooms: number[]) {
    const places: string[] = [];
    for (const room of rooms) if ((await this.rooms(room).kids()).includes(kid)) places.push(`room ${room}`);
    if ((await this.hallway.kids()).includes(kid)) places.push("hallway");
    return places;
  }
}
class Kid extends Context<number> {
  location = "nowhere";
  direction = "stationary";
  coord = { x: 0, y: 0 };

  /** Figure 4: the identifier binds the method to one kid's context, so the code names none. */
  kidInit() {
    this.location = "world";
  }
  move(dx: number, dy: number) {
    this.coord.x += dx;
    this.coord.y += dy;
  }
  @readonly reportLocation() {
    return { id: this.key, location: this.location, ...this.coord };
  }
}
class Game extends Context {
  kidsInWorld = new Set<number>();
  buildings = this.children(Building);
  kids = this.children(Kid);
}

test("figure 6: the game's state is its contexts, each of which has its own", async () => {
  const { root, stop } = await run(Game);
  await root.buildings(0).rooms(0).enter(1);
  await root.buildings(1).rooms(0).enter(2);
  await root.buildings(1).hallway.moveIn(3);
  assert.deepEqual(await root.buildings(0).rooms(0).kids(), [1]);
  assert.deepEqual(await root.buildings(1).rooms(0).kids(), [2]);
  assert.deepEqual(await root.buildings(0).hallway.kids(), []);
  assert.deepEqual(await root.buildings(1).hallway.kids(), [3]);
  await stop();
});

test("figure 7: a context's name is the way to it from the root", async () => {
  const { root, stop } = await run(Game);
  const names = [root, root.buildings(0).rooms(0), root.buildings(1).hallway, root.kids(2)];
  assert.deepEqual(names.map(String), [
    "Game",
    "Game.buildings(0).rooms(0)",
    "Game.buildings(1).hallway",
    "Game.kids(2)",
  ]);
  await stop();
});

test("§3.1 a context is not made by the program but when it is first named, and stays", async () => {
  const made: number[] = [];
  class Player extends Context<number> {
    born = note(this.key);
    score = 0;
    win() {
      this.score += 1;
      return this.score;
    }
  }
  class World extends Context {
    players = this.children(Player);
  }
  const note = (key: number) => {
    if (!made.includes(key)) made.push(key);
    return key;
  };
  const { root, stop } = await run(World);
  assert.deepEqual(made, []);
  assert.equal(await root.players(7).win(), 1);
  assert.deepEqual(made, [7]);
  assert.equal(await root.players(7).win(), 2);
  assert.equal(await root.players(8).win(), 1);
  assert.deepEqual(made, [7, 8]);
  await stop();
});

test("§3.2.1 figure 4: the identifier binds a method to one context of its type", async () => {
  const { root, stop } = await run(Game);
  await root.kids(1).kidInit();
  await root.kids(1).move(2, 3);
  await root.kids(2).move(5, 0);
  assert.deepEqual(await root.kids(1).reportLocation(), { id: 1, location: "world", x: 2, y: 3 });
  assert.deepEqual(await root.kids(2).reportLocation(), { id: 2, location: "nowhere", x: 5, y: 0 });
  await stop();
});

test("§3.2.1 a method reads and writes the state of its own context, and no other's", async () => {
  class Secret extends Context {
    value = 42;
    tell() {
      return this.value;
    }
  }
  class Spy extends Context {
    secret = this.child(Secret);
    async peek() {
      return (this.secret as unknown as { value: number }).value;
    }
    async poke() {
      const secret = this.secret as Ref<Secret> & { value?: number };
      secret.value = 0;
      return this.secret.tell();
    }
  }
  const { root, stop } = await run(Spy);
  await assert.rejects(root.peek(), { code: "HW-1007" });
  refusedAtOnce(() => (root as unknown as { value: number }).value, "HW-1007");
  const poked = await root.poke().catch(() => 42);
  assert.equal(poked, 42);
  assert.equal(await root.secret.tell(), 42);
  await stop();
});

test("figure 8: a relocation is one event; nobody sees the kid in two places or in none", async () => {
  const { root, stop } = await run(Game);
  const building = root.buildings(1);
  await building.rooms(0).enter(7);
  const before = building.whereIs(7, [0, 1]);
  const relocation = building.relocate(7, 0);
  await gates.reached("moved out");
  const during = [building.whereIs(7, [0, 1]), building.rooms(0).kids(), building.hallway.kids()];
  await turns();
  gates.open("moved out");
  await relocation;
  assert.deepEqual(await before, ["room 0"]);
  assert.deepEqual(await Promise.all(during), [["hallway"], [], [7]]);
  await stop();
});

test("figure 8: done as separate events, the relocation can be seen half done", async () => {
  const { root, stop } = await run(Game);
  const building = root.buildings(1);
  gates.open("moved out");
  await building.rooms(0).enter(7);
  const separate = [building.rooms(0).moveOut(7), building.whereIs(7, [0]), building.hallway.moveIn(7)];
  const [, between] = await Promise.all(separate);
  assert.deepEqual(between, [], "which is what one event for both rules out");
  await stop();
});
