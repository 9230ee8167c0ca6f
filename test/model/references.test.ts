import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Context } from "headwater";
import { Reference } from "#src/model/refs.js";
import { Calls, Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

class Room extends Context<number> {
  players = new Set<string>();
  leave(player: string) {
    return this.players.delete(player);
  }
}
class Hallway extends Context {
  enter(player: string) {
    return player;
  }
}
class Building extends Context<string> {
  floors = [1, 2];
  rooms = this.children(Room);
  hallway = this.child(Hallway);
  close() {}
}
class Cell extends Context<readonly [x: number, y: number]> {
  touch() {}
}
class Game extends Context {
  buildings = this.children(Building);
  cells = this.children(Cell);
}

const place = Place.root(Game);
const root = new Calls().root<Game>(place);

test("a reference is written as the program would write it", () => {
  assert.equal(String(root), "Game");
  assert.equal(String(root.buildings("north")), 'Game.buildings("north")');
  assert.equal(String(root.buildings("north").rooms(2)), 'Game.buildings("north").rooms(2)');
  assert.equal(String(root.buildings("north").hallway), 'Game.buildings("north").hallway');
  assert.equal(String(root.cells(3, -4)), "Game.cells(3, -4)");
});

test("two references to one context hold the same address, and different keys hold different ones", () => {
  const address = (of: unknown) => Reference.addressOf(of);
  assert.equal(address(root.buildings("a").rooms(1)), address(root.buildings("a").rooms(1)));
  assert.equal(address(root.buildings("a").hallway), address(root.buildings("a").hallway));
  assert.notEqual(address(root.buildings("a").rooms(1)), address(root.buildings("b").rooms(1)));
  assert.notEqual(address(root.cells(1, 2)), address(root.cells(2, 1)));
});

test("calling a method hands the context, the method and the arguments to the scope", () => {
  const calls = new Calls();
  const game = calls.root<Game>(place);
  assert.equal(game.buildings("a").rooms(1).leave("ada") as unknown, 1);
  assert.equal(game.buildings("a").hallway.enter("bob") as unknown, 2);
  assert.deepEqual(calls.made, [
    'Game.buildings("a").rooms(1).leave("ada")',
    'Game.buildings("a").hallway.enter("bob")',
  ]);
});

test("an address knows what is below it", () => {
  const address = (of: unknown) => Reference.addressOf(of);
  const building = address(root.buildings("a"));
  const room = address(root.buildings("a").rooms(1));
  assert.ok(room.isBelow(building));
  assert.ok(room.isBelow(place));
  assert.ok(!building.isBelow(room));
  assert.ok(!room.isBelow(room));
  assert.ok(!room.isBelow(address(root.buildings("b"))));
  assert.deepEqual([place.depth, building.depth, room.depth], [0, 1, 2]);
});

test("the children that were named are listed in the order of their making, those never named are not", () => {
  const fresh = Place.root(Game);
  const game = new Calls().root<Game>(fresh);
  assert.deepEqual([...fresh.made()], []);
  String(game.buildings("b"));
  String(game.buildings("a"));
  String(game.buildings("b").rooms(1));
  assert.deepEqual([...fresh.made()].map(String), ['Game.buildings("b")', 'Game.buildings("a")']);
});

test("a method that does not exist is refused by name, with the context and the methods there are", () => {
  const open = root.buildings("a") as unknown as Record<string, unknown>;
  refusedAtOnce(() => open.colse, "HW-1007", 'Game.buildings("a")', '"colse"', "Building", "close");
});

test("a field is not reachable through a reference", () => {
  const open = root.buildings("a").rooms(1) as unknown as Record<string, unknown>;
  refusedAtOnce(() => open.players, "HW-1007", "rooms(1)", '"players"', "leave");
});

test("a reference is not a thenable and can be printed, so awaiting or logging one does no harm", async () => {
  const room = root.buildings("a").rooms(1);
  assert.equal(await (room as unknown), room);
  assert.equal(JSON.stringify(room), "{}");
  assert.equal(`${room}`, 'Game.buildings("a").rooms(1)');
});

test("whoever looks at a reference, in whatever way, sees which context it names", () => {
  const room = root.buildings("a").rooms(1);
  assert.equal(inspect({ room, at: [root] }), `{ room: Game.buildings("a").rooms(1), at: [ Game ] }`);
  assert.equal(inspect(new Error("x", { cause: room })).includes("[cause]: Game.buildings"), true);
  assert.match(inspect(room, { customInspect: false }), /Game\.buildings\("a"\)\.rooms\(1\)/);
  assert.match(inspect(room, { customInspect: false, showHidden: true }), /rooms\(1\)/);
  assert.match(inspect(Object.getPrototypeOf(room)), /Reference/);
  assert.equal(inspect(root.buildings), "[Function: children]");
  assert.equal(Object.prototype.toString.call(room), '[object Game.buildings("a").rooms(1)]');
  assert.equal((room as object) instanceof Room, false);
});

test("references to one context are deeply equal, those to two are not, and a test that fails says which", () => {
  assert.deepEqual(root.buildings("a").rooms(1), root.buildings("a").rooms(1));
  assert.notDeepEqual(root.buildings("a").rooms(1), root.buildings("a").rooms(2));
  assert.throws(
    () => assert.deepEqual(root.buildings("a").rooms(1), root.buildings("a").rooms(2)),
    /AssertionError.*rooms\(1\).*rooms\(2\)/s,
  );
  assert.throws(() => assert.deepEqual(root, {}), /AssertionError.*Game/s);
});

test("a context that is looked at shows its address, its fields, and where its children are", () => {
  const building = Context.construct(Reference.addressOf(root.buildings("a")));
  assert.equal(
    inspect({ building }, { breakLength: Number.POSITIVE_INFINITY }),
    '{ building: Game.buildings("a") { floors: [ 1, 2 ], rooms: Game.buildings("a").rooms(…), ' +
      'hallway: Game.buildings("a").hallway } }',
  );
  assert.equal(inspect([[building]], { depth: 1 }), '[ [ [Game.buildings("a")] ] ]');
  assert.match(inspect(Building.prototype), /^Building|Context/);
});

test("references are recognised behind the names that they carry, and nothing else is", () => {
  const room: unknown = root.buildings("a").rooms(1);
  assert.ok(room instanceof Reference);
  assert.ok(!({} instanceof Reference));
  assert.ok(!((null as unknown) instanceof Reference));
  refusedAtOnce(() => Reference.addressOf("Game"), "HW-1018", "Game is not a reference");
});
