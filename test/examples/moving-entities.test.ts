import assert from "node:assert/strict";
import test from "node:test";
import { isDeepStrictEqual } from "node:util";
import { run } from "headwater";
import { Random } from "#src/random.js";
import World, { type Entity, HEIGHT, main, regionOf, WIDTH } from "../../examples/moving-entities.js";
import { turns } from "../gates.js";
import { runErratically } from "./erratic.js";
import { printed } from "./printed.js";

const TICKS = 40;

interface Walker {
  id: string;
  x: number;
  y: number;
  dx: number;
  dy: number;
}

function someWalkers(count: number): Walker[] {
  const random = new Random(8);
  return Array.from({ length: count }, (_, i) => ({
    id: `walker ${i}`,
    x: random.int(WIDTH),
    y: random.int(HEIGHT),
    dx: random.int(3) - 1,
    dy: random.int(3) - 1,
  }));
}

/** One tick of the same world as a loop over an array. */
function walk(walkers: readonly Walker[]): void {
  for (const walker of walkers) {
    if (walker.x + walker.dx < 0 || walker.x + walker.dx >= WIDTH) walker.dx *= -1;
    if (walker.y + walker.dy < 0 || walker.y + walker.dy >= HEIGHT) walker.dy *= -1;
    walker.x += walker.dx;
    walker.y += walker.dy;
  }
}

function placesOf(walkers: readonly Walker[]): string[] {
  return walkers.map(({ id, x, y }) => `${id} at ${x}, ${y}`).toSorted();
}

function idsOf(walkers: readonly Walker[]): string[] {
  return walkers.map(({ id }) => id).toSorted();
}

test("entities that step at each tick end where a plain loop takes them", async () => {
  const failures: unknown[] = [];
  await using service = await run(World, { onError: (failure) => failures.push(failure) });
  const walkers = someWalkers(30);
  await Promise.all(walkers.map((walker) => service.root.add({ ...walker, tickMs: 1, ticksMax: TICKS })));

  let found: Entity[] = [];
  do {
    await turns(1);
    found = await service.root.audit();
    assert.deepEqual(idsOf(found), idsOf(walkers), "an entity is in no cell, or in two");
  } while (found.some(({ ticks }) => ticks < TICKS));

  await service.idle();
  assert.deepEqual(failures, []);
  for (let tick = 0; tick < TICKS; tick++) walk(walkers);
  assert.deepEqual(placesOf(await service.root.audit()), placesOf(walkers));
});

test("no audit amid the steps of a tick finds an entity lost or doubled", async () => {
  const failures: unknown[] = [];
  await using service = await runErratically(World, { onError: (failure) => failures.push(failure) });
  const world = service.root;
  const walkers = someWalkers(15);
  const hourMs = 3_600_000; // The test itself gives the ticks, a few at once and with audits between them.
  await Promise.all(walkers.map((walker) => world.add({ ...walker, tickMs: hourMs, ticksMax: TICKS })));

  let halfDone = 0;
  for (let tick = 0; tick < 10; tick++) {
    const before = placesOf(walkers);
    const audits = walkers.map(async ({ id, x, y }, i) => {
      for (let turn = 0; turn < i % 3; turn++) await world.audit();
      const cell = world.regions(...regionOf({ x, y })).cells(x, y);
      await cell.tick(id);
      return world.audit();
    });
    walk(walkers);
    for (const found of await Promise.all(audits)) {
      assert.deepEqual(idsOf(found), idsOf(walkers), "an entity is in no cell, or in two");
      const places = placesOf(found);
      if (!isDeepStrictEqual(places, before) && !isDeepStrictEqual(places, placesOf(walkers))) halfDone++;
    }
    await service.idle();
    assert.deepEqual(placesOf(await world.audit()), placesOf(walkers));
  }
  assert.deepEqual(failures, []);
  assert.ok(halfDone > 0, "some audits saw a tick half done");
});

test("an entity cannot be added twice, or off the grid", async () => {
  await using service = await run(World);
  const walker = { id: "ada", x: 1, y: 1, dx: 0, dy: 0, tickMs: 1, ticksMax: 0 };
  await service.root.add(walker);
  await assert.rejects(service.root.add({ ...walker, x: 5 }), /ada is in the world already/);
  await assert.rejects(service.root.add({ ...walker, id: "ben", y: HEIGHT }), /ben is off the grid/);
  await assert.rejects(service.root.add({ ...walker, id: "cleo", x: 0.5 }), /cleo is off the grid/);
  assert.deepEqual(placesOf(await service.root.audit()), ["ada at 1, 1"]);
});

const isReport = (line: string) => line.endsWith("events per second");

test("the demonstration ends after 50 ticks", async () => {
  await using service = await run(World);
  const lines = await printed(main, service);
  assert.equal(lines[0], "40 entities cross 24 by 8 cells, one step each 10 ms:");
  const report = lines.filter(isReport).at(-1);
  assert.match(report ?? "", /^40 entities, 2000 steps, \d+ events per second$/);
});

test("asked to run forever, the demonstration goes on until it is told to stop", async () => {
  await using service = await run(World);
  const stop = new AbortController();
  const lines: string[] = [];
  const print = (line: string) => {
    lines.push(line);
    if (isReport(line)) stop.abort();
  };
  await main(service, { print, signal: stop.signal, forever: true, load: 1 });
  assert.equal(lines.filter(isReport).length, 1);
});
