import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as others } from "node:timers/promises";
import { Gatherer } from "#src/streams/service/gatherer.js";
import { RoundTurns, type TurnClock } from "#src/streams/service/turns.js";
import fc from "../properties.js";

/** A thread in virtual time: a round takes it for as long as it is told, and nothing else goes on meanwhile. */
class Thread implements TurnClock {
  ms = 0;
  readonly #timers: { readonly at: number; readonly task: () => void }[] = [];
  #soon: (() => void)[] = [];

  nowMs(): number {
    return this.ms;
  }

  afterOthers(task: () => void): void {
    this.#soon.push(task);
  }

  after(ms: number, task: () => void): { stop(): void } {
    const timer = { at: this.ms + ms, task };
    this.#timers.push(timer);
    return { stop: () => void this.#timers.splice(this.#timers.indexOf(timer) >>> 0, 1) };
  }

  /** Timers that are due, then what waited for them, as the event loop does it. */
  async until(endMs: number): Promise<void> {
    while (this.ms < endMs) {
      const due = this.#timers.filter(({ at }) => at <= this.ms);
      for (const timer of due) this.#timers.splice(this.#timers.indexOf(timer), 1);
      for (const { task } of due) task();
      await others();
      const soon = this.#soon;
      this.#soon = [];
      for (const task of soon) task();
      await others();
      if (due.length === 0 && soon.length === 0)
        this.ms = Math.min(endMs, ...this.#timers.map(({ at }) => at).filter((at) => at > this.ms));
    }
  }
}

interface Costs {
  readonly roundMs: number;
  readonly msPerByte?: number;
  readonly share?: number;
}

/** A tenant whose rounds take some milliseconds, and some for each byte. */
class Busy {
  usedMs = 0;
  rounds = 0;
  longestMs = 0;
  /** So much longer takes its next round, because the operating system ran something else. */
  mishapMs = 0;
  readonly #gatherer: Gatherer;

  constructor(
    readonly thread: Thread,
    turns: RoundTurns,
    { roundMs, msPerByte = 0, share = 1 }: Costs,
  ) {
    const carryOut = (record: Uint8Array) => {
      const tookMs = roundMs + msPerByte * record.length + this.mishapMs;
      this.mishapMs = 0;
      thread.ms += tookMs;
      this.usedMs += tookMs;
      this.rounds++;
      this.longestMs = Math.max(this.longestMs, tookMs);
      const answers = Array.from({ length: 1000 }, () => ANSWER);
      return Promise.resolve({ answers, refused: null, grown: [], work: null, tookMs });
    };
    this.#gatherer = new Gatherer(carryOut, share, turns.tenant());
  }

  push(bytes: number): Promise<unknown> {
    const batch = new Uint8Array(bytes);
    return this.#gatherer.push({ stream: "s", producer: "", sequence: null, key: null, batch });
  }

  /** Pushes a row every so often, and notes how long each took from when it was due. */
  every(ms: number, fromMs: number, tookMs: number[]): void {
    this.thread.after(fromMs - this.thread.ms, () => {
      this.every(ms, fromMs + ms, tookMs);
      void this.push(20).then(() => tookMs.push(this.thread.ms - fromMs));
    });
  }

  /** Pushes again as soon as it has an answer. */
  again(bytes: number, untilMs: number): void {
    if (this.thread.ms < untilMs) void this.push(bytes).then(() => this.again(bytes, untilMs));
  }
}

const ANSWER = { first: 1, rows: 1, duplicates: 0, isRepeated: false };

test("a tenant with all that a thread can do costs others two short rounds of it", async () => {
  const greatest = async (heavy: number) => {
    const thread = new Thread();
    const turns = new RoundTurns(thread);
    const tookMs: number[] = [];
    for (let i = 0; i < 20; i++) new Busy(thread, turns, { roundMs: 0.1 }).every(40, 2 * i, tookMs);
    const busy = new Busy(thread, turns, { roundMs: 0.1, msPerByte: 1e-5 });
    await thread.until(200);
    for (let i = 0; i < heavy; i++) busy.again(60_000, 1000);
    await thread.until(1000);
    assert.equal(tookMs.length, 20 * 25);
    if (heavy > 0) assert.ok(busy.usedMs > 0.8 * 800, String(busy.usedMs)); // it gets what they leave
    return Math.max(...tookMs);
  };
  const alone = await greatest(0);
  assert.ok(alone < 1, String(alone));
  const beside = await greatest(100);
  assert.ok(beside < alone + 2.5, String(beside)); // the rest of a slice, a round, and the others
});

test("tenants that push a row now and then gather rows when there are many of them, and wait for no more than a moment", async () => {
  const thread = new Thread();
  const turns = new RoundTurns(thread);
  const tookMs: number[] = [];
  const tenants = Array.from({ length: 300 }, () => new Busy(thread, turns, { roundMs: 0.1 }));
  for (const [i, each] of tenants.entries()) each.every(20, i / 15, tookMs);
  const one = new Busy(thread, turns, { roundMs: 0.1 });
  one.again(20, 600);
  await thread.until(600);
  const rounds = tenants.reduce((sum, each) => sum + each.rounds, 0);
  assert.ok(tookMs.length > 3 * rounds, `${tookMs.length} pushes, ${rounds} rounds`);
  assert.ok(Math.max(...tookMs) < 200, String(Math.max(...tookMs)));
  // Waiting brings nothing to who pushes after each answer only.
  assert.ok(one.rounds > 120, String(one.rounds));
});

test("few tenants wait for nothing", async () => {
  const thread = new Thread();
  const turns = new RoundTurns(thread);
  const tookMs: number[] = [];
  for (let i = 0; i < 10; i++) new Busy(thread, turns, { roundMs: 0.1 }).every(20, i, tookMs);
  await thread.until(1000);
  assert.equal(tookMs.length, 500);
  assert.ok(Math.max(...tookMs) < 0.5, String(Math.max(...tookMs)));
});

test("a round that took long by mischance does not put its tenant behind the others for long", async () => {
  const thread = new Thread();
  const turns = new RoundTurns(thread);
  for (let i = 0; i < 50; i++) new Busy(thread, turns, { roundMs: 0.1 }).again(20, 1000);
  const one = new Busy(thread, turns, { roundMs: 0.1 });
  await thread.until(100);
  one.mishapMs = 50;
  const tookMs: number[] = [];
  one.every(40, 100, tookMs);
  await thread.until(1000);
  assert.ok(tookMs.length > 20, String(tookMs.length));
  assert.ok(Math.max(...tookMs) < 100, String(Math.max(...tookMs)));
});

test("a tenant takes no more of a core than its share", async () => {
  const thread = new Thread();
  const one = new Busy(thread, new RoundTurns(thread), { roundMs: 0.1, msPerByte: 1e-5, share: 0.1 });
  for (let i = 0; i < 10; i++) one.again(60_000, 1000);
  await thread.until(1000);
  assert.ok(one.usedMs > 80 && one.usedMs < 110, String(one.usedMs));
});

/** A tenant with much to do: what a round of it costs, how much it pushes, and how often at a time. */
const HEAVY = fc
  .record({
    roundMs: fc.double({ min: 0.05, max: 2, noNaN: true }),
    pushMs: fc.double({ min: 0.001, max: 2, noNaN: true }),
    bytes: fc.constantFrom(20, 400, 4000, 60_000),
    inFlight: fc.integer({ min: 1, max: 100 }),
  })
  .map(({ pushMs, bytes, ...costs }) => ({ ...costs, bytes, pushMs, msPerByte: pushMs / (bytes + 64) }));
const LIGHT = fc.record({
  everyMs: fc.integer({ min: 20, max: 100 }),
  fromMs: fc.integer({ min: 0, max: 50 }),
  roundMs: fc.double({ min: 0.02, max: 0.3, noNaN: true }),
});

test("whatever tenants with much to do push, others wait for some rounds of them that are no longer than needed", async () => {
  const heavies = fc.array(HEAVY, { minLength: 1, maxLength: 3 });
  const lights = fc.array(LIGHT, { minLength: 2, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(heavies, lights, async (heavy, light) => {
      const run = async (others: typeof heavy) => {
        const thread = new Thread();
        const turns = new RoundTurns(thread);
        const tookMs: number[] = [];
        for (const { everyMs, fromMs, roundMs } of light)
          new Busy(thread, turns, { roundMs }).every(everyMs, fromMs, tookMs);
        const busy = others.map((costs) => new Busy(thread, turns, costs));
        for (const [i, { bytes, inFlight }] of others.entries())
          for (let n = 0; n < inFlight; n++) busy[i]?.again(bytes, 500);
        await thread.until(100);
        tookMs.length = 0; // what rounds cost is known by now
        for (const each of busy) each.longestMs = 0;
        await thread.until(500);
        const p99Ms = tookMs.sort((a, b) => a - b)[Math.floor(0.99 * (tookMs.length - 1))] ?? 0;
        return { p99Ms, busy };
      };
      const alone = await run([]);
      const beside = await run(heavy);
      let longestMs = 0;
      for (const [i, { roundMs, pushMs }] of heavy.entries()) {
        const own = beside.busy[i]?.longestMs ?? 0;
        longestMs += own;
        // As long as a round should be, or as its fixed cost and as much again; and one push more than expected, or that alone.
        assert.ok(own <= 2 * Math.max(1, 2 * roundMs) + roundMs + 2 * pushMs, `a round of ${own} ms`);
      }
      assert.ok(
        beside.p99Ms <= 1.5 * alone.p99Ms + 2 * longestMs + 1,
        `${beside.p99Ms} ms beside, ${alone.p99Ms} ms alone, rounds of ${longestMs} ms`,
      );
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

test("a tenant that floods others with small pushes does not make them linger", async () => {
  const thread = new Thread();
  const turns = new RoundTurns(thread);
  const tookMs: number[] = [];
  for (let i = 0; i < 30; i++) {
    // Three pushes behind each other, ten times a second: to linger would gather two of them.
    const one = new Busy(thread, turns, { roundMs: 0.1 });
    one.every(100, 3 * i, tookMs);
    one.every(100, 3 * i + 5, tookMs);
    one.every(100, 3 * i + 6, tookMs);
  }
  const flood = new Busy(thread, turns, { roundMs: 0.1 });
  for (let i = 0; i < 100; i++) flood.again(20, 1500);
  await thread.until(500);
  tookMs.length = 0;
  await thread.until(1500);
  assert.ok(tookMs.length >= 800, String(tookMs.length));
  assert.ok(Math.max(...tookMs) < 5, String(Math.max(...tookMs)));
});
