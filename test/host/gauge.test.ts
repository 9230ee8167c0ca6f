import assert from "node:assert/strict";
import { test } from "node:test";
import { Gauge } from "#src/host/load/gauge.js";

const MB = 1_000_000;

test("the memory of a host counts what it holds in buffers", () => {
  const gauge = new Gauge();
  const before = gauge.read().heapBytes;
  const held = Buffer.alloc(64 * MB);
  const grown = gauge.read().heapBytes - before;
  assert.ok(grown > 60 * MB, `grown by ${grown} bytes`);
  assert.equal(held.length, 64 * MB);
});

test("a reading counts the events since the last one", () => {
  const gauge = new Gauge();
  for (let ticket = 1; ticket <= 40; ticket++)
    gauge.started({ node: "Root", ticket, time: Date.now() - 1000 });
  const { eventsPerSecond, queueMs } = gauge.read();
  assert.ok(eventsPerSecond > 0);
  assert.ok(queueMs >= 1000, `${queueMs} ms`);
  const next = gauge.read();
  assert.equal(next.eventsPerSecond, 0);
  assert.equal(next.queueMs, 0);
});

test("events are asked at their end how long they took", () => {
  const gauge = new Gauge();
  for (let ticket = 1; ticket <= 16; ticket++) {
    const event = { node: "Root", ticket, time: Date.now() - 500 };
    gauge.started(event);
    gauge.finished(event);
  }
  assert.ok(gauge.read().p99Ms >= 500);
  assert.equal(gauge.read().p99Ms, 0);
});

test("times that were measured while the machine's clock was set are left out", (t) => {
  const gauge = new Gauge();
  const clock = Date.now;
  const event = { node: "Root", ticket: 1, time: Date.now() };
  gauge.started(event);
  t.mock.method(Date, "now", () => clock() + 3_600_000);
  gauge.finished(event);
  const { p99Ms, queueMs } = gauge.read();
  assert.deepEqual({ p99Ms, queueMs }, { p99Ms: 0, queueMs: 0 });
  const next = { node: "Root", ticket: 2, time: Date.now() - 500 };
  for (let i = 0; i < 16; i++) gauge.started({ ...next, ticket: 2 + i });
  for (let i = 0; i < 16; i++) gauge.finished({ ...next, ticket: 2 + i });
  assert.ok(gauge.read().p99Ms >= 500);
});
