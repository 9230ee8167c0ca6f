import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, tracked } from "headwater";
import { Placement } from "#src/elastic/placement.js";
import { Slot } from "#src/host/context/slot.js";
import { ContextLoads } from "#src/host/load/context-loads.js";
import { type MeasuredHosts, Meter } from "#src/host/load/meter.js";
import { Program } from "#src/host/node/program.js";
import type { HostId } from "#src/host/ports/index.js";
import { DEFAULT_LIMITS } from "#src/host/ports/limits.js";
import { memoryPorts } from "#src/host/ports/ports.js";
import { resolvePath } from "#src/model/path.js";
import { roughBytes } from "#src/state/rough-size.js";
import { versionOf } from "#src/state/tracked-content.js";

class Room extends Context<number> {
  words: string[] = Array.from({ length: 100 }, () => "x".repeat(100));
}

class House extends Context<number> {
  rooms = this.children(Room);
  entries = tracked.map<string, string>();
}

class Town extends Context {
  houses = this.children(House);
}

function townWith(houses: number, rooms: number): { root: Slot; at(house: number, room?: number): Slot } {
  const root = new Slot("town", null, null, undefined, Town);
  const at = (house: number, room?: number) =>
    resolvePath(root, [
      { field: "houses", key: house },
      ...(room === undefined ? [] : [{ field: "rooms", key: room }]),
    ]);
  for (let house = 0; house < houses; house++) for (let room = 0; room < rooms; room++) at(house, room);
  return { root, at };
}

test("the size of a state is about right, however large, and takes looking at a few items only", () => {
  const text = "x".repeat(1000);
  const sizes: [unknown, number][] = [
    [7, 40],
    [text, 1060],
    [Array.from({ length: 1000 }, () => text), 1_040_000],
    [new Map(Array.from({ length: 5000 }, (_, i) => [`key ${i}`, text])), 5_300_000],
    [{ a: [1, 2, 3], b: { c: text } }, 1300],
    [new Uint8Array(9000), 9060],
    [
      versionOf(
        "map",
        Array.from({ length: 2000 }, (_, i) => [i, text]),
      ),
      2_100_000,
    ],
  ];
  for (const [value, about] of sizes) {
    const bytes = roughBytes([value]);
    assert.ok(bytes > about / 1.5 && bytes < about * 1.5, `${bytes} instead of about ${about}`);
  }
  let looked = 0;
  const count = (at: number[], key: PropertyKey) => {
    looked += 1;
    return Reflect.get(at, key);
  };
  roughBytes([new Proxy(new Array<number>(100_000).fill(1), { get: count })]);
  assert.ok(looked < 100, `${looked} looks at 100,000 items`);
});

test("contexts are reported with what they ran and what they hold, and start from nothing after each reading", () => {
  const { root, at } = townWith(2, 2);
  assert.ok(at(1, 1).state.length > 0); // it exists, and holds ten thousand characters
  const loads = new ContextLoads(new Map([["town", root]]));
  for (const slot of [at(0), at(0), at(1, 0)]) if (loads.begins()) loads.ends(slot, 1);
  const first = loads.read();
  const of = (path: string, samples: typeof first) =>
    samples.find((each) => JSON.stringify(each.path) === path);
  assert.equal(of('[{"field":"houses","key":0}]', first)?.events, 2);
  assert.ok((of('[{"field":"houses","key":1},{"field":"rooms","key":1}]', first)?.bytes ?? 0) > 10_000);
  assert.equal(
    loads.read().some(({ events }) => events > 0),
    false,
  );
});

test("a context that its host has let go of fills nothing any more", () => {
  const { root, at } = townWith(1, 1);
  assert.ok(at(0, 0).state.length > 0);
  const loads = new ContextLoads(new Map([["town", root]]));
  const program = new Program({ town: Town }, memoryPorts, {
    commitOrder: "observer",
    limits: DEFAULT_LIMITS,
  });
  const load = { utilisation: 0, heapBytes: 0, eventsPerSecond: 0, queueMs: 0, p99Ms: 0 };
  let reports = [loads.read()];
  const pool: MeasuredHosts = {
    placement: new Placement<HostId>([0 as HostId]),
    takeSamples: () => reports.splice(0),
  };
  const meter = new Meter(pool, program);
  const bytes = () =>
    meter.measure(0, [{ id: 0, state: "running", contexts: 1, restarts: 0, member: null, events: 0, load }])
      .hosts[0]?.stateBytes;
  assert.ok((bytes() ?? 0) > 10_000);
  assert.ok(at(0, 0).evict());
  reports = [loads.read()];
  assert.deepEqual(reports, [[]]);
  assert.equal(bytes(), 0);
});

test("with very many events only some are timed, and with very many contexts those above stand for them", () => {
  const { root, at } = townWith(3, 1000);
  const loads = new ContextLoads(new Map([["town", root]]));
  const everywhere = () => {
    for (let house = 0; house < 3; house++) {
      for (let room = 0; room < 1000; room++)
        for (let i = 0; i < 4; i++) if (loads.begins()) loads.ends(at(house, room), 1);
    }
  };
  everywhere();
  const all = loads.read().filter(({ events }) => events > 0);
  assert.ok(all.length <= 1027);
  assert.equal(
    all.reduce((sum, { events }) => sum + events, 0),
    12_000,
  );
  assert.ok(all.some(({ path, events }) => path.length === 1 && events > 1000));
  everywhere();
  const sampled = loads.read().reduce((sum, { events }) => sum + events, 0);
  assert.ok(sampled > 11_000 && sampled < 13_000, `${sampled} events by one in six`);
});

test("what moves as one is what hashing or a rule places", () => {
  const { at } = townWith(1, 1);
  const placement = new Placement([0, 1]);
  assert.equal(placement.unitOf(at(0, 0)), at(0));
  placement.separate(Room);
  assert.equal(placement.unitOf(at(0, 0)), at(0, 0));
});
