import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateScale } from "headwater/sim";

const costs = { headInMs: 0.005, headOutMs: 0.005, hostMs: 0.005, wireMs: 0.05 };
const scale = (hosts: number, workMs: number, more = {}) =>
  simulateScale({ hosts, workMs, costs, events: 4000, ...more });

test("work scales with hosts until the head is the limit (EventWave, figure 14)", () => {
  const [one, eight, all] = [scale(1, 1), scale(8, 1), scale(128, 0.1)];
  assert.ok(eight.eventsPerSecond / one.eventsPerSecond > 7.5);
  assert.ok(eight.hostUtilisation > 0.9);
  assert.ok(all.headUtilisation > 0.9, `the head is busy for ${all.headUtilisation}`);
  assert.ok(all.eventsPerSecond < 1000 / (costs.headInMs + costs.headOutMs) + 1);
});

test("the maximum does not drop as more hosts take part", () => {
  const alone = scale(1, 0).eventsPerSecond;
  for (const hosts of [2, 16, 128]) assert.ok(scale(hosts, 0).eventsPerSecond >= alone * 0.98);
});

test("fewer contexts than hosts leave hosts idle, because a context is on one host and runs one event at a time", () => {
  const few = scale(64, 1, { contexts: 4 });
  assert.ok(few.hostUtilisation < 0.07);
  assert.ok(few.eventsPerSecond < 4000);
});

test("hashing spreads contexts less evenly than balancing", () => {
  assert.ok(scale(16, 1, { spread: "hashed" }).eventsPerSecond < scale(16, 1).eventsPerSecond);
});
