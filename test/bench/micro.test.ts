import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { Driver } from "../../bench/lib/driver.js";
import { measure } from "../../bench/lib/rounds.js";
import type { Case, Subject } from "../../bench/lib/subject.js";

const EVENTS = 340;
const ROUNDS_QUICK = 5;
const root = new URL("../../", import.meta.url);

async function bench(...args: string[]) {
  const command = ["--import", "tsx", "bench/main.ts", ...args];
  return await promisify(execFile)(process.execPath, command, { cwd: root });
}

interface Line {
  readonly bench: string;
  readonly case: string;
  readonly hosts: number;
  readonly journal: string;
  readonly contexts: number;
  readonly work: number;
  readonly inFlight: number;
  readonly rounds: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly ratio: number;
  readonly baseline: string;
  readonly baselineEventsPerSecond: number;
}

const systems = ["promise-queue", "headwater", "nact", "comedy"];
const variants = [
  "headwater-by-key",
  "headwater-total-order",
  "headwater-reads",
  "headwater-two-calls-below",
  "headwater-beside-10000-unfinished",
  "headwater-100000-contexts",
  "promise-queue-100000-objects",
];

test("micro prints one JSON object per case and setting, and every event it reports took place", async () => {
  const { stdout, stderr } = await bench("micro", "--quick", "--json", "--events", String(EVENTS));
  const lines = stdout.trimEnd().split("\n");
  const figures = lines.map((line) => JSON.parse(line) as Line);

  const settings = (works: number[], names: string[]) =>
    works.flatMap((work) =>
      [1, 256, 1024].flatMap((inFlight) => names.map((name) => `${name} ${work} ${inFlight}`)),
    );
  assert.deepEqual(
    figures.map((each) => `${each.case} ${each.work} ${each.inFlight}`),
    [...settings([0, 10], systems), ...settings([0], variants)],
  );
  for (const each of figures) {
    assert.equal(each.bench, "micro");
    assert.equal(each.hosts, 1);
    assert.equal(each.journal, each.case.startsWith("headwater") ? "memory" : "none");
    assert.equal(each.contexts, each.case.includes("100000") ? 100_000 : 160);
    assert.equal(each.rounds, ROUNDS_QUICK);
    assert.equal(each.events, ROUNDS_QUICK * EVENTS);
    for (const field of ["eventsPerSecond", "p50Ms", "p99Ms", "ratio", "baselineEventsPerSecond"] as const) {
      const value = each[field];
      assert.ok(
        typeof value === "number" && value > 0 && Number.isFinite(value),
        `${field} in ${JSON.stringify(each)}`,
      );
    }
    assert.ok(each.p50Ms <= each.p99Ms);
    assert.ok(systems.includes(each.baseline));
    if (each.case === each.baseline) assert.equal(each.ratio, 1);
  }
  assert.match(stderr, /headwater reaches 0\.3 of promise-queue/);
});

test("without a name the benches are listed, and an unknown name or option is refused", async () => {
  assert.match((await bench()).stderr, /^ {2}micro /m);
  await assert.rejects(bench("macro"), { code: 1, stderr: /There is no bench "macro"/ });
  await assert.rejects(bench("micro", "--events", "few"), { code: 1, stderr: /a whole number, not "few"/ });
  await assert.rejects(bench("micro", "--fast"), { code: 1, stderr: /--fast/ });
});

/** Counters that tell how they were used; every `lose`-th event is answered but not counted. */
function watched(contexts: number, lose = Number.POSITIVE_INFINITY) {
  const counts: number[] = Array.from({ length: contexts }, () => 0);
  let [inFlight, inFlightMax, answered] = [0, 0, 0];
  const subject: Subject = {
    async call(counter) {
      inFlightMax = Math.max(inFlightMax, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      if (++answered % lose !== 0) counts[counter] = (counts[counter] ?? 0) + 1;
    },
    counted: async () => counts.reduce((sum, count) => sum + count, 0),
    stop: async () => {},
  };
  return { subject, counts, inFlightMax: () => inFlightMax };
}

test("the driver goes round the counters, keeps the asked number in flight and stops at the last event", async () => {
  const { subject, counts, inFlightMax } = watched(7);
  const driver = new Driver(subject, 7);
  assert.equal((await driver.drive(40, 5, 0)).events, 40);
  await driver.drive(30, 3, 0);
  assert.deepEqual(counts, [10, 10, 10, 10, 10, 10, 10]);
  assert.equal(inFlightMax(), 5);
  assert.equal(driver.asked, 70);
});

test("where events are few, the latency of each counts", async () => {
  const { subject } = watched(1);
  let calls = 0;
  const slowOnce: Subject = {
    ...subject,
    async call(counter, work) {
      if (++calls === 6) for (const end = performance.now() + 5; performance.now() < end; );
      await subject.call(counter, work);
    },
  };
  assert.ok((await new Driver(slowOnce, 1).drive(10, 1, 0)).p99Ms >= 5);
});

test("an error stops the driver, unless the system says that only the reply was lost", async () => {
  const { subject, counts } = watched(2);
  const failing: Subject = {
    ...subject,
    async call(counter, work) {
      await subject.call(counter, work);
      throw new Error("no reply");
    },
  };
  await assert.rejects(new Driver(failing, 2).drive(4, 1, 0), /no reply/);
  await new Driver({ ...failing, isLostReply: () => true }, 2).drive(4, 1, 0);
  assert.deepEqual(counts, [3, 2]);
});

test("a case that loses an event gets no figures", async () => {
  const lossy: Case = {
    name: "lossy",
    baseline: "lossy",
    contexts: 3,
    countsPerEvent: 1,
    journal: "none",
    start: async (contexts) => watched(contexts, 8).subject,
  };
  const effort = { rounds: 1, warmUpMs: 1, roundMs: 1, events: 4 };
  const measured = measure([lossy], [{ work: 0, inFlight: 2 }], effort, () => {});
  await assert.rejects(measured, /lossy counted 7 events instead of 8/);
});
