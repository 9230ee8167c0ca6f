import { Context, type Key, type TrackedList, type TrackedMap, type TrackedSet, tracked } from "headwater";
import type { Random } from "#src/random.js";

/** A context with fields of all kinds. */
export class Thing extends Context<Key> {
  count = 0;
  name: string | null = null;
  notes: unknown = {};
  scores = tracked.map<string | number | boolean | bigint, unknown>([["first", 1]]);
  members = tracked.set<string | number>();
  lines = tracked.list<unknown>();
}

const ODD_KEYS = [
  "",
  "\0",
  "a/b",
  "#",
  "\ud800",
  "\udfff\ud800",
  "é".repeat(900),
  "x".repeat(1900),
  0,
  -1.5,
  Number.NaN,
  true,
  5n,
  "5",
  "true",
];

export function changeSomething(thing: Thing, random: Random): void {
  const { scores, members, lines } = thing as unknown as {
    scores: TrackedMap<Key & string, unknown>;
    members: TrackedSet<string | number>;
    lines: TrackedList<unknown>;
  };
  const key = random.chance(0.3) ? (random.pick(ODD_KEYS) as string) : `k${random.int(8)}`;
  const value = random.pick([
    random.int(1000),
    undefined,
    { deep: [key] },
    new Map([[1, new Date(5)]]),
    "z".repeat(3000),
  ]);
  const acts = [
    () => (thing.count += 1),
    () => (thing.name = random.pick([null, "ada", "y".repeat(random.int(3000))])),
    () => (thing.notes = random.pick([{}, { list: new Array(random.int(900)).fill("n") }, [null, -0]])),
    () => scores.set(key, value),
    () => scores.set(key, value),
    () => scores.delete(key),
    () => scores.clear(),
    () => members.add(typeof key === "boolean" || typeof key === "bigint" ? "b" : key),
    () => members.delete(key),
    () => lines.push(value, key),
    () => lines.unshift(value),
    () => lines.pop(),
    () => lines.shift(),
    () => lines.splice(random.int(5), random.int(3), value),
    () => (lines.length > 0 ? lines.set(random.int(lines.length), value) : null),
    () => (random.chance(0.2) ? lines.clear() : null),
  ];
  for (let i = random.int(4); i >= 0; i--) random.pick(acts)();
}
