import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HeadwaterError, type Journal, MemoryJournal, run, type Service } from "headwater";
import { inspectorOf } from "#src/host/service.js";
import fc from "../properties.js";
import Town from "./programs/town.js";

const module = new URL("./programs/town.ts", import.meta.url).href;
const NAMES = ["a", "b", "c"];
const ADDRESSES = ["Town", ...NAMES.map((name) => `Town.houses("${name}")`)];

interface Act {
  readonly a: string;
  readonly b: string;
  readonly isBoth: boolean;
  readonly what: number;
  readonly n: number;
}

const name = fc.constantFrom(...NAMES);
const act: fc.Arbitrary<Act> = fc.record({
  ...{ a: name, b: name, isBoth: fc.boolean(), what: fc.nat(8), n: fc.nat(20) },
});

function done({ root }: Service<Town>, { a, b, isBoth, what, n }: Act): Promise<number> {
  return isBoth ? root.both(a, b, what, n) : root.houses(a).act(what, n);
}

/** Makes the calls all at once; returns the successful ones with their tickets. */
async function madeAtOnce(service: Service<Town>, acts: readonly Act[]): Promise<[number, Act][]> {
  const made = await Promise.allSettled(acts.map((each) => done(service, each)));
  return made.flatMap((each, i) =>
    each.status === "fulfilled" ? [[each.value, acts[i] as Act] as [number, Act]] : [],
  );
}

type Recorded = Readonly<Record<string, unknown>>;

/** The states behind each of these events, by a run that makes them one after the other. */
async function recordedOf(events: readonly [ticket: number, act: Act][]): Promise<[number, Recorded][]> {
  await using service = await run(Town, { journal: new MemoryJournal() });
  const inspector = inspectorOf(service);
  const found: [number, Recorded][] = [];
  for (const [ticket, each] of events.toSorted(([t1], [t2]) => t1 - t2)) {
    await done(service, each);
    const there = new Set(inspector.children("Town", "houses").addresses);
    const states = await Promise.all(
      ADDRESSES.map(async (address) => {
        const exists = address === "Town" ? (await service.root.total()) > 0 : there.has(address);
        return [address, exists ? JSON.parse(await inspector.state(address, 1e6)) : null] as const;
      }),
    );
    found.push([ticket, Object.fromEntries(states)]);
  }
  return found;
}

/** Every ticket that can be asked for shows the states behind the last event up to there; every other is refused. */
function compare(service: Service<Town>, recorded: readonly [number, Recorded][]): void {
  const { from, to } = service.history().Town ?? { from: 0, to: -1 };
  const nothing: Recorded = Object.fromEntries(ADDRESSES.map((address) => [address, null]));
  const tickets = new Set(recorded.flatMap(([ticket]) => [ticket - 1, ticket, ticket + 1]));
  for (const ticket of tickets) {
    if (ticket < from || ticket > to) {
      assert.throws(
        () => service.at(ticket),
        (error) => error instanceof HeadwaterError && error.code === "HW-3029",
      );
      continue;
    }
    const expected = recorded.findLast(([at]) => at <= ticket)?.[1] ?? nothing;
    const past = service.at(ticket);
    for (const address of ADDRESSES)
      assert.deepEqual(past.state(address, 1e6), expected[address], `${address} at ${ticket}`);
    const houses = ADDRESSES.slice(1).filter((address) => expected[address] !== null);
    assert.deepEqual(past.children("Town", "houses").addresses, houses);
  }
}

const opened = (journal: string | Journal, history: number | string, hosts: number) =>
  run(Town, { journal, history, onError: () => {}, ...(hosts === 1 ? {} : { hosts, module }) });

for (const [hosts, numRuns] of [
  [1, 20],
  [2, 2],
] as const) {
  test(`the past is what a run of the events one at a time recorded, after restarts too, on ${hosts} hosts`, async () => {
    const batches = fc.array(fc.array(act, { maxLength: 30 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(batches, async (lives) => {
        const journal = new MemoryJournal();
        const events: [number, Act][] = [];
        for (const [i, acts] of lives.entries()) {
          const service = await opened(journal, "1h", hosts);
          events.push(...(await madeAtOnce(service, acts)));
          if (i === lives.length - 1) compare(service, await recordedOf(events));
          await service.stop();
        }
      }),
      { numRuns },
    );
  });
}

test("what is too old is refused and forgotten, and the rest is as it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 150, maxLength: 200 }), fc.nat(40), async (acts, more) => {
      const journal = new MemoryJournal();
      await using service = await opened(journal, 10 + more, 1);
      const events: [number, Act][] = [];
      for (let i = 0; i < acts.length; i += 20)
        events.push(...(await madeAtOnce(service, acts.slice(i, i + 20))));
      compare(service, await recordedOf(events));
      const kept = [...journal.range("y/")].length;
      assert.ok(kept <= 10 + more + 64, `${kept} events are kept`);
      const needed = new Set([...journal.range("y/")].map(([key]) => key.slice(-16)));
      for (const [key] of journal.range("v/")) assert.ok(needed.has(key.slice(-16)), key);
    }),
    { numRuns: 5 },
  );
});

test("what is kept stays within the range over restarts, which leave out tickets", async () => {
  const journal = new MemoryJournal();
  const RANGE = 10;
  for (let life = 0; life < 3; life++) {
    await using service = await opened(journal, RANGE, 1);
    for (let i = 0; i < 300; i++) await service.root.houses("a").act(0, i);
    const { from, to } = service.history().Town ?? { from: 0, to: Number.POSITIVE_INFINITY };
    assert.ok(to - from < RANGE + 64 + 1, `from ${from} to ${to} in life ${life}`);
    const kept = [...journal.range("y/")].length;
    assert.ok(kept <= RANGE + 64, `${kept} events in life ${life}`);
  }
});

test("a copy of the journal's directory, as a crash would leave it, has the same past", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const acts = fc.sample(act, 120);
  const service = await opened(join(folder, "data"), 60, 1);
  const events = await madeAtOnce(service, acts.slice(0, 60));
  events.push(...(await madeAtOnce(service, acts.slice(60))));
  cpSync(join(folder, "data"), join(folder, "crashed"), {
    recursive: true,
    filter: (path) => !path.endsWith(".sock"),
  });
  await service.stop();
  await using again = await opened(join(folder, "crashed"), 60, 1);
  compare(again, await recordedOf(events));
});

test("a run without a history ends it, and reading the past changes nothing", async () => {
  const journal = new MemoryJournal();
  const first = await opened(journal, 1000, 1);
  await first.root.both("a", "b", 0, 1);
  const before = [...journal.range("")].map(([key, value]) => [key, Buffer.from(value).toString("hex")]);
  const { to = 0 } = first.history().Town ?? {};
  first.at(to).state('Town.houses("a")');
  first.at(to).children("Town", "houses");
  assert.deepEqual(
    [...journal.range("")].map(([key, value]) => [key, Buffer.from(value).toString("hex")]),
    before,
  );
  await first.stop();
  await using second = await run(Town, { journal });
  assert.deepEqual(second.history(), {});
  assert.throws(() => second.at(to), /keeps no history/);
  assert.deepEqual([...journal.range("v/"), ...journal.range("y/"), ...journal.range("z/")], []);
});
