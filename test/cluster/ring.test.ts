import assert from "node:assert/strict";
import { test } from "node:test";
import { PATIENCE_MS, Ring, RingMembers } from "#src/cluster/ring.js";
import { Random } from "#src/random.js";

const PLACES = Array.from({ length: 2000 }, (_, i) => `Streams.tenants("t${i}")`);

test("a member that comes or goes changes only what it gets or had, and each has about its part", () => {
  const random = new Random(7);
  let members = ["a", "b", "c"];
  for (let i = 0; i < 12; i++) {
    const before = new Ring(members);
    const isLeaving = members.length > 2 && random.chance(0.4);
    const changed = isLeaving ? random.pick(members) : `m${i}`;
    members = isLeaving ? members.filter((each) => each !== changed) : [...members, changed];
    const after = new Ring(members);
    const counts = new Map<string, number>();
    for (const place of PLACES) {
      const [then, now] = [before.owners(place, 2), after.owners(place, 2)];
      assert.equal(new Set(now).size, 2);
      const [more, fewer] = isLeaving ? [then, now] : [now, then];
      if (!more.includes(changed)) assert.deepEqual(more, fewer, place);
      for (const member of now) counts.set(member, (counts.get(member) ?? 0) + 1);
    }
    const even = (2 * PLACES.length) / members.length;
    for (const member of members) {
      const count = counts.get(member) ?? 0;
      assert.ok(count > even / 2 && count < even * 2, `${member}: ${count} of ${even}`);
    }
  }
});

test("there are as many owners as members at most, and none without members", () => {
  assert.deepEqual(new Ring([]).owners("x", 2), []);
  assert.deepEqual(new Ring(["a"]).owners("x", 2), ["a"]);
  assert.deepEqual(new Ring(["a", "b"]).owners("x", 0), []);
});

test("a member that is silent for some heartbeats stays on the ring, one that is gone leaves it, and so does the head", () => {
  let now = 0;
  const members = new RingMembers(() => now);
  const beat = (member: string, state: "standby" | "head" | "leaving" | "gateway") =>
    members.heard({ member, state, epoch: 0, position: 0, program: "" });
  const owners = () => [...members.ring.owners("x", 9)].sort();
  for (const member of ["a", "b", "c", "d"]) beat(member, "standby");
  now = PATIENCE_MS;
  for (const member of ["a", "b", "c"]) beat(member, "standby");
  assert.deepEqual(owners(), ["a", "b", "c", "d"]);
  now += 1;
  assert.deepEqual(owners(), ["a", "b", "c"]);
  beat("a", "head");
  beat("b", "leaving");
  assert.deepEqual(owners(), ["c"]);
  beat("c", "gateway");
  assert.deepEqual(owners(), []);
  beat("a", "standby");
  assert.deepEqual(owners(), ["a"]);
});
