import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { Claims } from "#src/fluxion/runtime/claims.js";
import { type Job, PLACES, Sharing } from "#src/fluxion/runtime/sharing.js";
import fc from "../properties.js";

/** Threads that do what they are told, one stage after the other, as real ones do. */
class Threads {
  readonly #claims: Claims;
  readonly sharing: Sharing;
  readonly #given: {
    id: string;
    place: number;
    answer: (report: readonly unknown[] | null) => void;
    lose: (error: unknown) => void;
  }[][];
  readonly begun: string[] = [];
  readonly ended: string[] = [];
  readonly failed: string[] = [];
  readonly leftHere: string[] = [];
  /** What each thread is at. */
  readonly running: (string | null)[];

  constructor(threads: number) {
    const memory = Claims.memoryFor(threads * PLACES);
    this.#claims = new Claims(memory);
    this.#given = Array.from({ length: threads }, () => []);
    this.running = Array.from({ length: threads }, () => null);
    this.sharing = new Sharing(threads, this.#claims, (thread, { id }, place) => {
      return new Promise((answer, lose) => this.#of(thread).push({ id, place, answer, lose }));
    });
  }

  add(...ids: string[]): void {
    for (const id of ids) {
      const job: Job = {
        id,
        parcel: [],
        ended: (report) => (report === null ? this.leftHere : this.ended).push(id),
        failed: () => this.failed.push(id),
      };
      this.sharing.add(job);
    }
  }

  /** What it was given and has not begun with, also if that was taken back. */
  waitingIn(thread: number): string[] {
    return this.#of(thread)
      .map(({ id }) => id)
      .slice(this.running[thread] === null ? 0 : 1);
  }

  /** It begins with the next one that it still has, and what it answers for those that were taken back arrives. */
  async begin(thread: number): Promise<void> {
    while (this.running[thread] === null) {
      const next = this.#of(thread)[0];
      if (next === undefined) break;
      if (this.#claims.begin(next.place)) {
        this.running[thread] = next.id;
        this.begun.push(next.id);
      } else {
        this.#of(thread).shift();
        next.answer(null);
      }
    }
    await settled();
  }

  async end(thread: number): Promise<void> {
    if (this.running[thread] === null) return;
    this.running[thread] = null;
    this.#of(thread).shift()?.answer([thread]);
    await settled();
    await this.begin(thread);
  }

  /** The thread ends, and another takes its place. */
  async die(thread: number): Promise<void> {
    this.running[thread] = null;
    const error = new HeadwaterError("HW-6004", "its host has ended.");
    for (const { lose } of this.#of(thread).splice(0)) lose(error);
    await settled();
  }

  #of(thread: number) {
    const given = this.#given[thread];
    assert.ok(given);
    return given;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a thread is given a second stage only when none is idle", async () => {
  const threads = new Threads(2);
  threads.add("a", "b", "c", "d", "e");
  assert.deepEqual(
    [threads.waitingIn(0), threads.waitingIn(1)],
    [
      ["a", "c"],
      ["b", "d"],
    ],
  );
  assert.equal(threads.sharing.waiting, 3);
  await threads.begin(0);
  await threads.end(0);
  assert.deepEqual([threads.running[0], threads.waitingIn(0)], ["c", ["e"]]);
});

test("an idle thread takes over what waits behind a slow stage", async () => {
  const threads = new Threads(2);
  threads.add("slow", "b", "c");
  await Promise.all([threads.begin(0), threads.begin(1)]);
  assert.deepEqual(threads.waitingIn(0), ["c"]);
  await threads.end(1);
  await threads.begin(1);
  assert.deepEqual(threads.running, ["slow", "c"]);
  await threads.end(1);
  await threads.end(0);
  assert.deepEqual(threads.begun, ["slow", "b", "c"]);
  assert.deepEqual(threads.ended, ["b", "c", "slow"]);
});

test("what waits behind a slow stage is overtaken once, not again and again", async () => {
  const threads = new Threads(2);
  threads.add("slow", "b", "old", "d", "e", "f", "g");
  await Promise.all([threads.begin(0), threads.begin(1)]);
  await threads.end(1); // b; d begins, and e waits behind it
  await threads.end(1); // d is younger than what waits behind the slow one, which is next but one
  assert.deepEqual([threads.running[1], threads.waitingIn(1)], ["e", ["old"]]);
});

test("a thread that ends fails what it has begun; what waits there runs once, elsewhere", async () => {
  const threads = new Threads(2);
  threads.add("exits", "b", "innocent", "d", "e");
  await Promise.all([threads.begin(0), threads.begin(1)]);
  await threads.die(0);
  assert.deepEqual(threads.failed, ["exits"]);
  await threads.end(1);
  while (threads.ended.length < 4)
    for (const thread of [0, 1]) await threads.begin(thread).then(() => threads.end(thread));
  assert.deepEqual(threads.begun.toSorted(), ["b", "d", "e", "exits", "innocent"]);
  assert.deepEqual(threads.ended.toSorted(), ["b", "d", "e", "innocent"]);
});

test("what threads end with before they have begun is not offered forever", async () => {
  const threads = new Threads(1);
  threads.add("unlucky");
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(threads.waitingIn(0), ["unlucky"]);
    await threads.die(0);
  }
  assert.deepEqual([threads.begun, threads.failed, threads.leftHere], [[], [], ["unlucky"]]);
});

test("what is moved to an idle thread is given up after three threads that ended, not after three moves", async () => {
  const threads = new Threads(2);
  threads.add("slow", "exits", "moved");
  await Promise.all([threads.begin(0), threads.begin(1)]);
  await threads.die(1); // its replacement is idle, and takes over what waits behind the slow one
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(threads.waitingIn(1), ["moved"]);
    await threads.die(1);
  }
  assert.deepEqual([threads.failed, threads.leftHere], [["exits"], ["moved"]]);
});

test("a thread that becomes idle takes over what waits, also if something older has begun elsewhere meanwhile", async () => {
  const threads = new Threads(3);
  threads.add("first", "older");
  await threads.die(1);
  await threads.die(2);
  await threads.begin(2); // the older one begins in a thread that has not been heard of
  threads.add("waits");
  assert.deepEqual(threads.waitingIn(0), ["first", "waits"]);
  await threads.begin(1); // what was taken back from here is answered for
  await threads.begin(1);
  assert.deepEqual(threads.running, [null, "waits", "older"]);
});

test("stopped, it leaves what has not begun to the main loop, and gives out nothing more", async () => {
  const threads = new Threads(1);
  threads.add("a", "b", "c");
  await threads.begin(0);
  threads.sharing.stop();
  assert.deepEqual(threads.leftHere, ["b", "c"]);
  threads.add("d");
  await threads.die(0);
  assert.deepEqual([threads.begun, threads.failed, threads.leftHere], [["a"], ["a"], ["b", "c", "d"]]);
  assert.deepEqual(threads.waitingIn(0), []);
});

type Step = ["add" | "begin" | "end" | "die", number];

test("whatever threads do, each stage begins at most once and ends once, and no thread idles while one waits", async () => {
  const step = fc.tuple(
    fc.constantFrom<Step[0]>("add", "add", "begin", "begin", "end", "end", "end", "die"),
    fc.nat(2),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const threads = new Threads(3);
      let count = 0;
      for (const [what, thread] of steps) {
        if (what === "add") threads.add(`s${count++}`);
        else await threads[what](thread);
        const idle = [0, 1, 2].filter(
          (each) => threads.running[each] === null && threads.waitingIn(each).length === 0,
        );
        if (idle.length > 0) assert.equal(threads.sharing.waiting, 0);
      }
      for (let i = 0; i < 3 * count; i++) {
        await threads.begin(i % 3);
        await threads.end(i % 3);
      }
      assert.equal(new Set(threads.begun).size, threads.begun.length);
      const over = [...threads.ended, ...threads.failed, ...threads.leftHere];
      assert.deepEqual(over.toSorted(), Array.from({ length: count }, (_, i) => `s${i}`).toSorted());
      assert.deepEqual([...threads.ended, ...threads.failed].toSorted(), threads.begun.toSorted());
    }),
    { numRuns: 500 },
  );
});
