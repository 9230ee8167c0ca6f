import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Context, register, tracked } from "headwater";
import { Random } from "#src/random.js";
import {
  changedFields,
  fittedState,
  initialState,
  instantiate,
  refill,
  type State,
  stateOf,
  viewOf,
} from "#src/state/fields.js";
import { versionOf } from "#src/state/tracked-content.js";
import { LiveMap } from "#src/state/tracked-map.js";
import { toRoot, Version } from "#src/state/tracked-version.js";
import { Place } from "../place.js";
import { refusedAtOnce } from "../refused.js";

interface Entry {
  readonly who: string;
  readonly tags: readonly string[];
}
class Card {
  constructor(readonly face: string) {}
  get isAce() {
    return this.face === "A";
  }
}
register(Card);

class Board extends Context {
  scores = tracked.map<string, number>([["ada", 1]]);
  members = tracked.set<string>();
  events = tracked.list<Entry>();
  notes = new Map<string, string>();
  last: unknown = null;

  forget() {}
}
const place = Place.root(Board);

function enter(state = initialState(place)) {
  return { state, board: instantiate(place, state) as Board };
}
function keep(board: Board, before: State): State {
  return stateOf(board, place, before, null);
}

test("a tracked collection starts with what its field says and is like a Map, a Set, an array", () => {
  const { board } = enter();
  assert.deepEqual([...board.scores], [["ada", 1]]);
  assert.equal(board.scores.set("bob", 2), board.scores);
  assert.deepEqual([...board.scores.keys()], ["ada", "bob"]);
  assert.deepEqual([...board.scores.values()], [1, 2]);
  assert.equal(board.members.add("x").add("x").size, 1);
  assert.deepEqual([...board.members.entries()], [["x", "x"]]);
  assert.equal(board.events.push({ who: "a", tags: [] }, { who: "b", tags: ["t"] }), 2);
  assert.equal(board.events.at(-1)?.who, "b");
  assert.equal(board.events.at(2), undefined);
  assert.equal(board.events.at(-3), undefined);
  assert.deepEqual(
    board.events.slice(1).map(({ who }) => who),
    ["b"],
  );
  const seen: unknown[] = [];
  board.scores.forEach((value, key) => {
    seen.push([key, value]);
  });
  board.members.forEach((item) => {
    seen.push(item);
  });
  assert.deepEqual(seen, [["ada", 1], ["bob", 2], "x"]);
  assert.equal(inspect(board.members), "TrackedSet Set(1) { 'x' }");
});

test("iterating sees what is added meanwhile and not what is taken out, as with a Map, wherever the root is", () => {
  for (let seed = 1; seed <= 1500; seed++) {
    const random = new Random(seed);
    const start = Array.from({ length: 6 }, (_, i) => [i, i] as const);
    const tracked = new LiveMap(start);
    const frozen = random.chance(0.7) ? tracked.freeze() : null;
    const plain = new Map<number, number>(start);
    if (frozen !== null) {
      const other = new LiveMap([]); // somebody else moves the root away
      other.attach(frozen, other, place, "scores");
      if (random.chance(0.7)) other.set(random.int(8), 9).delete(random.int(6));
      if (random.chance(0.5)) toRoot(random.pick([other.version, frozen]));
    }
    const [a, b] = [tracked[Symbol.iterator](), plain[Symbol.iterator]()];
    for (let turn = 0; turn < 30; turn++) {
      const [one, two] = [a.next(), b.next()];
      assert.deepEqual(one.value, two.value, `seed ${seed}`);
      if (two.done) break;
      const key = random.int(10);
      const chance = random.int(10);
      if (chance < 4) assert.equal(tracked.delete(key), plain.delete(key));
      else if (chance < 6) assert.ok(tracked.set(key, turn) && plain.set(key, turn));
      else if (chance === 6) {
        tracked.clear();
        plain.clear();
      } else if (chance === 7) tracked.freeze();
    }
  }
});

test("a state holds versions: a change makes a new one, and no change gives back the very same state", () => {
  const { state, board } = enter();
  assert.ok(state[0] instanceof Version);
  board.scores.set("bob", 2);
  board.scores.delete("bob");
  board.scores.set("ada", 5).set("ada", 1);
  board.members.add("x");
  board.members.clear();
  board.events.push({ who: "a", tags: [] });
  board.events.pop();
  assert.equal(keep(board, state), state);
  board.scores.delete("ada");
  board.scores.set("ada", 1); // it was the last one, and is again
  assert.equal(keep(board, state), state);
  board.members.add("x");
  const after = keep(board, state);
  assert.deepEqual(changedFields(place, state, after), ["members"]);
  assert.equal(after[0], state[0]);
});

test("what was taken out and put back in its place, or in its order, is no change", () => {
  const { state, board } = enter();
  board.scores.set("bob", 2).set("cid", 3).set("dan", 4).delete("bob");
  const events = [
    { who: "a", tags: [] },
    { who: "b", tags: [] },
  ];
  board.events.push(...events);
  const before = keep(board, state);
  for (const key of ["dan", "cid"]) board.scores.delete(key);
  board.scores.set("cid", 3).set("dan", 4);
  board.events.shift();
  board.events.shift();
  board.events.push(...events);
  assert.equal(keep(board, before), before);
  for (const key of ["dan", "cid"]) board.scores.delete(key);
  board.scores.set("dan", 4).set("cid", 3);
  assert.deepEqual(changedFields(place, before, keep(board, before)), ["scores"]);
});

test("a state half way through a method does not hide that the method changed nothing in the end", () => {
  const { state, board } = enter();
  board.scores.set("bob", 2);
  const half = keep(board, state);
  board.scores.delete("bob");
  assert.deepEqual(changedFields(place, state, half), ["scores"]);
  assert.equal(keep(board, state), state);
});

test("old states are as they were, for several instances at once", () => {
  const { state, board } = enter();
  board.scores.set("bob", 2);
  board.scores.delete("ada");
  const one = keep(board, state);
  const first = enter(state).board;
  const second = enter(one).board;
  second.scores.set("cid", 3);
  const two = keep(second, one);
  assert.deepEqual([...first.scores], [["ada", 1]]);
  assert.deepEqual([...board.scores], [["bob", 2]]);
  first.scores.set("dan", 4);
  assert.deepEqual([...enter(two).board.scores.keys()], ["bob", "cid"]);
  assert.deepEqual([...first.scores.keys()], ["ada", "dan"]);
  assert.equal(first.scores.size, 2);
  assert.equal(board.scores.size, 1);
});

test("an instance is used again only while its collections hold exactly the state", () => {
  const { state, board } = enter();
  assert.ok(refill(board, place, state));
  board.scores.set("bob", 2);
  assert.ok(!refill(board, place, state));
  const after = keep(board, state);
  assert.ok(refill(board, place, after));
  assert.ok(!refill(board, place, state));
});

test("what an instance has kept of a collection is frozen, and no longer so when it is used again", () => {
  const { state, board } = enter();
  board.events.push({ who: "a", tags: [] });
  board.last = board.events.at(0);
  const after = keep(board, state);
  assert.ok(Object.isFrozen(board.last));
  assert.ok(refill(board, place, after));
  assert.ok(!Object.isFrozen(board.last));
  assert.deepEqual(board.last, { who: "a", tags: [] });
});

test("an event pays for what it touches: steps, undo and changes are as many as the changes", () => {
  const big = versionOf(
    "map",
    Array.from({ length: 50_000 }, (_, i) => [i, i]),
  );
  const live = new LiveMap([]);
  live.attach(big, live, place, "scores");
  for (let i = 0; i < 1000; i++) live.set(7, i).set(8, i);
  live.delete(9);
  const after = live.freeze();
  assert.equal(big.steps.length, 3);
  assert.equal(after.delta.length, 3);
  assert.equal(after.size, 49_999);
  toRoot(big);
  assert.equal(after.steps.length, 3);
  assert.equal(after.store, null);
});

test("values are copied on their way in and frozen, or handed out as copies", () => {
  class Desk extends Context {
    plain = tracked.map<string, { tags: string[] }>();
    other = tracked.map<string, { when: Date; tags: Set<string> }>();
    cards = tracked.list<Card>();
  }
  const desk = instantiate(Place.root(Desk), initialState(Place.root(Desk))) as Desk;
  const value = { tags: ["x"] };
  desk.plain.set("a", value);
  value.tags.push("y");
  const kept = desk.plain.get("a");
  assert.deepEqual(kept, { tags: ["x"] });
  assert.equal(desk.plain.get("a"), kept);
  assert.throws(() => (kept as { tags: string[] }).tags.push("z"), TypeError);
  assert.throws(() => {
    (kept as { tags: readonly string[] }).tags = [];
  }, TypeError);
  desk.other.set("a", { when: new Date(5), tags: new Set(["x"]) });
  desk.other.get("a")?.tags.add("y");
  desk.other.get("a")?.when.setTime(7);
  assert.deepEqual(desk.other.get("a"), { when: new Date(5), tags: new Set(["x"]) });
  desk.cards.push(new Card("A"));
  assert.ok(desk.cards.at(0)?.isAce);
  assert.throws(() => Object.assign(desk.cards.at(0) ?? {}, { face: "K" }), TypeError);
});

test("what cannot be kept is refused with the way to it", () => {
  const { board } = enter();
  const open = board as unknown as { scores: LiveMap };
  refusedAtOnce(() => open.scores.set("a", { f: () => 1 }), "HW-1006", 'Board.scores.get("a").f');
  refusedAtOnce(
    () => board.events.push({ who: "a", tags: [Symbol("x") as never] }),
    "HW-1006",
    "Board.events[0].tags[0]",
  );
  for (const key of [{}, null, undefined, ["a"], Symbol("s")]) {
    refusedAtOnce(() => open.scores.set(key as never, 1), "HW-1103", "Board.scores");
    refusedAtOnce(() => board.members.add(key as never), "HW-1103", "Board.members");
  }
  refusedAtOnce(() => board.events.set(0, { who: "a", tags: [] }), "HW-1105", "Board.events.set(0, …)");
  assert.equal(board.scores.size, 1);
  assert.equal(board.events.length, 0);
});

test("keys are told apart as in a Map", () => {
  const map = new LiveMap([]);
  map.set(-0, "zero").set(Number.NaN, "nan").set("0", "text").set(1n, "big").set(true, "yes");
  assert.equal(map.get(0), "zero");
  assert.deepEqual([...map.keys()].map(Object.is.bind(null, 0)), [true, false, false, false, false]);
  const frozen = map.freeze();
  map.delete(Number.NaN);
  const old = new LiveMap([]).show(frozen, place, "scores");
  assert.equal(old.get(Number.NaN), "nan");
  assert.equal(old.get(-0), "zero");
});

test("a tracked field keeps its collection, and its collection stays in it", () => {
  const replacing: ((board: Record<string, unknown>) => void)[] = [
    (board) => {
      board.scores = new Map();
    },
    (board) => {
      board.scores = 5;
    },
    (board) => {
      board.scores = undefined;
    },
    (board) => {
      board.scores = board.members;
    },
    (board) => {
      [board.scores, board.members] = [board.members, board.scores];
    },
  ];
  for (const replace of replacing) {
    const { state, board } = enter();
    replace(board as unknown as Record<string, unknown>);
    refusedAtOnce(() => keep(board, state), "HW-1101", "Board.scores");
  }
  for (const moved of [(board: Board) => board.scores, (board: Board) => [{ inside: board.events }]]) {
    const { state, board } = enter();
    board.last = moved(board);
    refusedAtOnce(() => keep(board, state), "HW-1006", "Board.last", "a tracked collection");
  }
  class Twice extends Context {
    a = tracked.map<string, number>();
    b = this.a;
  }
  refusedAtOnce(() => initialState(Place.root(Twice)), "HW-1101", "Twice.b");
});

test("a view of a tracked collection shows the state it was made of and cannot be changed", () => {
  const { state, board } = enter();
  const view = viewOf(place, state) as Board;
  board.scores.set("bob", 2);
  board.members.add("x");
  const after = keep(board, state);
  assert.deepEqual([...view.scores], [["ada", 1]]);
  assert.equal(view.members.size, 0);
  const later = viewOf(place, after) as Board;
  assert.deepEqual([...later.scores.keys()], ["ada", "bob"]);
  for (const change of [
    () => later.scores.set("x", 1),
    () => later.scores.delete("nobody"),
    () => later.scores.clear(),
    () => later.members.add("x"),
    () => later.members.clear(),
    () => later.events.push(),
    () => later.events.pop(),
    () => later.events.splice(0),
    () => later.events.unshift(),
    () => later.events.set(0, { who: "a", tags: [] }),
    () => later.events.clear(),
  ]) {
    refusedAtOnce(change, "HW-1104", "Board.");
  }
});

test("a plain Map in an older journal becomes the tracked one that the class now declares, and back", () => {
  const fitted = fittedState(place, [
    new Map([["bob", 2]]),
    new Set(["x"]),
    [{ who: "a", tags: [] }],
    new Map(),
    1,
  ]);
  const { board } = enter(fitted);
  assert.deepEqual([...board.scores], [["bob", 2]]);
  assert.ok(board.members.has("x"));
  assert.equal(board.events.at(0)?.who, "a");
  class Plain extends Context {
    scores = new Map<string, number>();
  }
  assert.deepEqual(fittedState(Place.root(Plain), [fitted[0]]), [new Map([["bob", 2]])]);
});
