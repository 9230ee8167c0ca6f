import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError, hostsOf, MemoryJournal, type RunOptions, run, type Service } from "headwater";
import { Random } from "#src/random.js";
import Parcels from "./programs/parcels.js";

const module = new URL("./programs/parcels.ts", import.meta.url).href;
const LIMIT = 200_000;
/** What a message has besides the text that makes it large. */
const BESIDES = 2_000;
const BOXES = 6;

function parcels(options: RunOptions): Promise<Service<Parcels>> {
  return run(Parcels, { hosts: 2, module, ...options });
}

/** Small most of the time, as often as not too large. */
function someBytes(random: Random): number {
  const bytes = Math.floor(10 ** (random.int(600) / 100));
  return Math.abs(bytes - LIMIT) < BESIDES ? LIMIT + BESIDES : bytes;
}

interface Expected {
  readonly counts: number[];
  readonly lengths: number[];
  handed: number;
}

type Step = (
  root: Service<Parcels>["root"],
  expected: Expected,
) => { ask: Promise<unknown>; is: number | null };

/** One event, and what is to come of it: null if it must fail. */
function drawn(random: Random, isDurable: boolean): Step {
  const [key, bytes] = [random.int(BOXES), someBytes(random)];
  const isLarge = bytes > LIMIT;
  return random.pick<Step>([
    ({ boxes }, { counts, lengths }) => {
      const ask = boxes(key).put("p".repeat(bytes));
      if (isLarge) return { ask, is: null };
      lengths[key] = bytes;
      return { ask, is: ++(counts as [number])[key as 0] };
    },
    ({ boxes }, { counts }) => {
      const ask = boxes(key)
        .make(bytes)
        .then((made) => made.length);
      if (isLarge) return { ask, is: null };
      (counts as [number])[key as 0] += 1;
      return { ask, is: bytes };
    },
    ({ boxes }, { counts, lengths }) => {
      const ask = boxes(key).keep(bytes);
      if (isLarge && isDurable) return { ask, is: null };
      lengths[key] = bytes;
      return { ask, is: ++(counts as [number])[key as 0] };
    },
    (root, { counts, lengths }) => {
      const ask = root.hand(key, bytes);
      if (isLarge) return { ask, is: null };
      lengths[key] = bytes;
      return { ask, is: ++(counts as [number])[key as 0] };
    },
    (root, { counts }) => {
      const ask = root.fetch(key, bytes);
      if (isLarge) return { ask, is: null };
      (counts as [number])[key as 0] += 1;
      return { ask, is: bytes };
    },
  ]);
}

/**
 * The root has a host of its own, so that calls go from host to host. Events are asked for in order, many at once; the
 * model takes them one at a time.
 */
async function someFail(options: RunOptions, seed: number, count: number): Promise<void> {
  const isDurable = options.journal !== undefined;
  await using service = await parcels({ limits: { messageBytes: LIMIT }, ...options });
  const { root } = service;
  await hostsOf(service).pin("Parcels", 0);
  for (let key = 0; key < BOXES; key++) await hostsOf(service).pin(`Parcels.boxes(${key})`, 1);
  const random = new Random(seed);
  const expected: Expected = { counts: Array(BOXES).fill(0), lengths: Array(BOXES).fill(0), handed: 0 };
  const asked: Promise<void>[] = [];
  let failed = 0;
  for (let i = 0; i < count; i++) {
    const { ask, is } = drawn(random, isDurable)(root, expected);
    if (is === null) failed += 1;
    asked.push(
      ask.then(
        (value) => assert.equal(value, is),
        (error: unknown) => {
          assert.ok(error instanceof HeadwaterError && error.code === "HW-6024", String(error));
          assert.match(error.message, /Parcels\S* .*more than 200000 bytes/);
          assert.equal(is, null);
        },
      ),
    );
    if (random.chance(0.1)) await Promise.all(asked);
  }
  await Promise.all(asked);
  assert.ok(failed > 10 && failed < count / 2, `${failed} events failed`);
  for (let key = 0; key < BOXES; key++) {
    const { count: seen, length } = await root.boxes(key).seen();
    assert.deepEqual([seen, length], [expected.counts[key], expected.lengths[key]]);
  }
}

for (const hostsAs of ["threads", "processes"] as const) {
  test(`what is too large for a message fails its own event and nothing else, on ${hostsAs}`, () =>
    someFail({ hostsAs }, 1, 300));
}

test("what is too large for a message fails its own event and nothing else, with a journal", () =>
  someFail({ journal: new MemoryJournal() }, 2, 300));

test("an event that starts another one with too much fails, and starts nothing", async () => {
  const failed: { code: string; method: string }[] = [];
  const onError = ({ method, error }: { method: string; error: unknown }) => {
    failed.push({ code: (error as HeadwaterError).code, method });
  };
  await using service = await parcels({
    limits: { messageBytes: LIMIT },
    journal: new MemoryJournal(),
    onError,
  });
  const { root } = service;
  assert.equal(await root.boxes(1).startLater(LIMIT / 2), 1);
  await assert.rejects(root.boxes(1).startLater(2 * LIMIT), { code: "HW-6024" });
  const { count, length } = await root.boxes(1).seen();
  assert.deepEqual([count, length], [2, LIMIT / 2]);
  assert.deepEqual(failed, []);
});

test("five hundred requests of 600 kB at once are cut into batches that host processes take", async () => {
  const value = "v".repeat(600_000);
  await using service = await parcels({ hostsAs: "processes", hosts: 1 });
  const counts = await Promise.all(Array.from({ length: 512 }, (_, i) => service.root.boxes(i).put(value)));
  assert.ok(counts.every((count) => count === 1));
  assert.deepEqual(await service.root.boxes(511).seen(), { count: 1, length: value.length, entries: 0 });
});

test("results that are larger than all that may be under way come one after the other", async () => {
  await using service = await parcels({ hostsAs: "processes" });
  const made = Array.from({ length: 60 }, (_, i) => service.root.boxes(i % 4).make(2_000_000));
  for (const each of made) assert.equal((await each).length, 2_000_000);
});

test("a context that is larger than a message may be comes to a host, and moves to another one", async () => {
  const journal = new MemoryJournal();
  const options: RunOptions = { hostsAs: "processes", journal, limits: { messageBytes: LIMIT, contexts: 1 } };
  await using service = await parcels(options);
  const { root } = service;
  for (let i = 0; i < 40; i++) assert.equal(await root.boxes(1).enter(`key ${i}`, LIMIT / 2), i + 1);
  await root.boxes(2).put("another context is in memory now");
  const before = await root.boxes(1).where();
  await root.boxes(2).put("and again");
  assert.equal((await root.boxes(1).seen()).entries, 40);
  const hosts = hostsOf(service);
  for (const host of [0, 1]) await hosts.move(root.boxes(1), host);
  for (const host of [0, 1]) {
    await hosts.move(root.boxes(1), host);
    assert.equal((await root.boxes(1).seen()).entries, 40);
    if (host === 0) assert.ok(before > 0);
  }
});
