import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, readonly } from "headwater";
import {
  armedIn,
  changedFields,
  initialState,
  instantiate,
  type State,
  stateOf,
  viewOf,
} from "#src/state/fields.js";
import { Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

class Player extends Context<string> {
  name = this.key.toUpperCase();
}
class Room extends Context<number> {
  players = new Set<string>();
  visits = 0;
  notes: Record<string, string[]> = {};
  owner: string | undefined;
  seats = this.children(Player);
  @readonly count() {
    return this.players.size;
  }
}
class Game extends Context {
  rooms = this.children(Room);
}

const root = Place.root(Game);
function room(key: number): Place {
  const [slot] = root.shape.slots;
  assert.ok(slot !== undefined);
  return root.child(slot, key);
}
function keep(instance: Room, place: Place, before: State): State {
  return stateOf(instance, place, before, null);
}
/** A context at work: what an event finds in it and may change. */
function enter(place: Place, state = initialState(place)) {
  return { state, instance: instantiate(place, state) as Room };
}

test("the first state of a context is what its field initialisers say, in the order of declaration", () => {
  assert.deepEqual(room(1).shape.fields, ["players", "visits", "notes", "owner"]);
  assert.deepEqual(initialState(room(1)), [new Set(), 0, {}, undefined]);
});

test("field initialisers may use the key", () => {
  const [slot] = room(2).shape.slots;
  assert.ok(slot !== undefined);
  assert.deepEqual(initialState(room(2).child(slot, "ada")), ["ADA"]);
});

test("an instance that changed nothing gives back the very same state", () => {
  const { state, instance } = enter(room(1));
  assert.equal(keep(instance, room(1), state), state);
  instance.players.add("ada");
  instance.players.delete("ada");
  instance.visits++;
  instance.visits--;
  instance.notes = {};
  assert.equal(keep(instance, room(1), state), state);
});

test("a change makes a new state, leaves the old one as it was, and keeps the fields that did not change", () => {
  const { state, instance } = enter(room(1));
  instance.players.add("ada");
  const after = keep(instance, room(1), state);
  assert.notEqual(after, state);
  assert.deepEqual(state, [new Set(), 0, {}, undefined]);
  assert.deepEqual(after, [new Set(["ada"]), 0, {}, undefined]);
  assert.equal(after[2], state[2]);
  assert.deepEqual(changedFields(room(1), state, after), ["players"]);
});

test("changes deep inside a field are seen", () => {
  const first = enter(room(1));
  first.instance.notes.ada = ["hello"];
  const one = keep(first.instance, room(1), first.state);
  const second = enter(room(1), one);
  second.instance.notes.ada?.push("again");
  const two = keep(second.instance, room(1), one);
  assert.deepEqual(changedFields(room(1), one, two), ["notes"]);
  assert.deepEqual(one[2], { ada: ["hello"] });
  assert.deepEqual(two[2], { ada: ["hello", "again"] });
});

test("a change between values that compare equal but are not the same is seen", () => {
  for (const [from, to] of [
    [0, -0],
    [undefined, null],
    [Number.NaN, 0],
  ]) {
    // biome-ignore format: short
    const { instance } = enter(room(1));
    (instance as { visits: unknown }).visits = from;
    const before = keep(instance, room(1), initialState(room(1)));
    (instance as { visits: unknown }).visits = to;
    assert.deepEqual(changedFields(room(1), before, keep(instance, room(1), before)), ["visits"]);
  }
});

test("a field that stays what it was has not changed, not even one that is not equal to itself", () => {
  const { state, instance } = enter(room(1));
  instance.visits = Number.NaN;
  const one = keep(instance, room(1), state);
  instance.owner = "ada";
  const two = keep(instance, room(1), one);
  assert.deepEqual(changedFields(room(1), one, two), ["owner"]);
});

test("the timers that a context has armed are part of its state, beside its fields", () => {
  const { state, instance } = enter(room(1));
  const timers = armedIn(room(1), state);
  assert.deepEqual([...timers], []);
  const armed = stateOf(instance, room(1), state, timers.set("1:0", 5));
  assert.deepEqual([...armedIn(room(1), armed)], [["1:0", 5]]);
  assert.deepEqual([...armedIn(room(1), state)], []);
  assert.deepEqual(changedFields(room(1), state, armed), []);
  instance.visits = 1;
  assert.deepEqual([...armedIn(room(1), keep(instance, room(1), armed))], [["1:0", 5]]);
  assert.deepEqual({ ...viewOf(room(1), armed) }, { ...viewOf(room(1), state) });
});

test("an instance works on its own copy of the state", () => {
  const { state, instance } = enter(room(1));
  instance.players.add("ada");
  const kept = keep(instance, room(1), state);
  instance.players.add("bob");
  assert.deepEqual(kept[0], new Set(["ada"]));
  assert.deepEqual(enter(room(1), kept).instance.players, new Set(["ada"]));
});

test("a field that holds what cannot be stored is refused with the context, the field and the path", () => {
  const { state, instance } = enter(room(3));
  (instance.notes as Record<string, unknown>).ada = ["x", () => 1];
  refusedAtOnce(() => keep(instance, room(3), state), "HW-1006", "Game.rooms(3).notes.ada[1]", "a function");
});

test("a class whose fields start with what cannot be stored is refused", () => {
  class Broken extends Context {
    timers = { tick: () => 1 };
  }
  refusedAtOnce(() => initialState(Place.root(Broken)), "HW-1006", "Broken.timers.tick");
});

test("fields cannot be added to a context or taken away from it", () => {
  const { instance } = enter(room(1));
  const open = instance as unknown as Record<string, unknown>;
  assert.throws(() => {
    open.extra = 1;
  }, TypeError);
  assert.throws(() => {
    delete open.visits;
  }, TypeError);
});

test("a view shows the key and the fields, belongs to its reader, and holds no methods or children", () => {
  const { state, instance } = enter(room(4));
  instance.players.add("ada");
  const after = keep(instance, room(4), state);
  const view = viewOf(room(4), after) as { key: number; players: Set<string>; visits: number };
  assert.deepEqual(
    { ...view },
    { key: 4, players: new Set(["ada"]), visits: 0, notes: {}, owner: undefined },
  );
  view.players.add("bob");
  assert.deepEqual(after[0], new Set(["ada"]));
  assert.throws(() => {
    view.visits = 9;
  }, TypeError);
});
