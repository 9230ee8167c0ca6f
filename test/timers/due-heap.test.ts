import assert from "node:assert/strict";
import { test } from "node:test";
import { dueAfter, timerKey } from "#src/host/event/due.js";
import { type Due, DueHeap } from "#src/host/node/due-heap.js";
import { timerId } from "#src/model/path.js";
import { Random } from "#src/random.js";
import { rootOf } from "../host/kept.js";
import { Thing } from "../host/thing.js";

test("a heap gives out what was added and not taken, in the order of keys", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const heap = new DueHeap<Due>();
    let all: Due[] = [];
    for (let step = 0; step < 150; step++) {
      const act = random.int(8);
      if (act < 4) {
        const item = { key: `${String(random.int(500)).padStart(3, "0")}/${step}`, at: -1 };
        heap.add(item);
        all.push(item);
      } else if (act < 6 && all.length > 0) {
        const item = act === 4 ? heap.first : random.pick(all);
        assert.ok(item);
        heap.remove(item);
        all = all.filter((each) => each !== item);
      } else if (act === 6 && random.chance(0.2)) {
        const count = random.int(10);
        const rest = heap.cut(count);
        const sorted = all.sort(byKey);
        assert.deepEqual(rest.sort(byKey), sorted.slice(count));
        all = sorted.slice(0, count);
      }
      assert.equal(heap.size, all.length);
      assert.equal(heap.first?.key, all.sort(byKey)[0]?.key);
    }
    const out: string[] = [];
    for (let { first } = heap; first !== undefined; first = heap.first) {
      out.push(first.key);
      heap.remove(first);
      assert.equal(first.at, -1);
    }
    assert.deepEqual(
      out,
      all.map(({ key }) => key),
    );
  }
});

const byKey = (a: Due, b: Due) => (a.key < b.key ? -1 : 1);

test("the order of timers' keys is by due time, then by ticket, then by position, all as numbers", () => {
  const random = new Random(3);
  const slot = rootOf(Thing);
  const number = () => random.int(random.pick([3, 12, 120, 1e9]));
  const timers = Array.from({ length: 500 }, () => {
    const [due, ticket] = [dueAfter(1.5, random.pick([0, 9, 10, 1e12, 1e300])), 1 + number()];
    const positions = Array.from({ length: 1 + random.int(3) }, () => 1 + number());
    return { due, ticket, positions, key: timerKey("Things", timerId(slot, ticket, positions), due) };
  });
  const expected = timers.toSorted((a, b) => {
    const at = a.positions.findIndex((position, i) => position !== b.positions[i]);
    const first = (a.positions[at] ?? 0) - (b.positions[at] ?? 0) || a.positions.length - b.positions.length;
    return a.due - b.due || a.ticket - b.ticket || first;
  });
  assert.deepEqual(
    timers.map(({ key }) => key).sort(),
    expected.map(({ key }) => key),
  );
});
