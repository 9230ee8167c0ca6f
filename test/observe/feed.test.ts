import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import type { DroppedFact, Fact } from "#src/observe/index.js";
import { Feed, lineOf } from "#src/observe/index.js";
import { Random } from "#src/random.js";
import { Gates } from "../gates.js";
import { until } from "../waits.js";

/** The feed by itself: who hears what, in which order, and what is lost when an observer is slow. */

const thrown: unknown[] = [];
const apart = (callback: () => void) => {
  try {
    callback();
  } catch (error) {
    thrown.push(error);
  }
};

const host = (number: number) => ({ kind: "host", host: number, what: "joined", why: null }) as const;

test("an observer gets the facts of its kinds, in order, after what notes them has gone on", async () => {
  const feed = new Feed(apart);
  const seen: string[] = [];
  feed.observe(["host", "journal"], (fact) => {
    seen.push(fact.kind === "host" ? `host ${fact.host}` : fact.kind);
  });
  feed.note(host(1));
  feed.note({ kind: "warning", error: new HeadwaterError("HW-6006", "slow.") });
  feed.note({ kind: "journal", node: "Bank", events: 3, ms: 1 });
  feed.note(host(2));
  assert.deepEqual(seen, [], "the observer does not run amid the runtime's work");
  await until(() => seen.length === 3);
  assert.deepEqual(seen, ["host 1", "journal", "host 2"]);
});

test("a kind is wanted as long as somebody hears it, and those who make facts are told", () => {
  const feed = new Feed(apart);
  const wanted: boolean[] = [];
  feed.watch(() => wanted.push(feed.wants("event")));
  const first = feed.observe(["event"], () => {});
  const second = feed.observe(["event", "event"], () => {});
  first.stop();
  first.stop();
  assert.equal(feed.wants("event"), true);
  second[Symbol.dispose]();
  assert.equal(feed.wants("event"), false);
  assert.deepEqual(wanted, [false, true, false]);
});

test("for any sizes and speeds, an observer gets every fact or is told in its place how many it missed", async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const feed = new Feed(apart);
    const gates = new Gates();
    const bytesMax = 500 + random.int(5000);
    const seen: (Fact | DroppedFact)[] = [];
    let waiting = 0;
    const observation = feed.observe(
      ["host"],
      async (fact) => {
        seen.push(fact);
        if (!random.chance(0.3)) return;
        waiting += 1;
        await gates.pass(`${seed} ${waiting}`);
      },
      { bytesMax },
    );
    let noted = 0;
    for (let step = 0; step < 60; step++) {
      const count = random.int(8);
      for (let i = 0; i < count; i++) feed.note({ ...host(noted++), why: "x".repeat(random.int(200)) });
      for (let open = 0; open <= waiting; open++) if (random.chance(0.5)) gates.open(`${seed} ${open}`);
      await new Promise(setImmediate);
    }
    for (let open = 0; open < 1000; open++) gates.open(`${seed} ${open}`);
    const accounted = () => {
      let next = 0;
      for (const fact of seen) {
        if (fact.kind === "dropped") next += fact.count;
        else if (fact.kind === "host") assert.equal(fact.host, next++);
      }
      return next;
    };
    await until(() => accounted() === noted);
    const missed = seen.reduce((sum, fact) => sum + (fact.kind === "dropped" ? fact.count : 0), 0);
    assert.equal(observation.dropped, missed);
    assert.equal(seen.length - seen.filter(({ kind }) => kind === "dropped").length, noted - missed);
    observation.stop();
  }
});

test("an observer that throws, or rejects, goes on, and the others do", async () => {
  const feed = new Feed(apart);
  thrown.length = 0;
  const seen: number[] = [];
  feed.observe(["host"], () => {
    throw new Error("thrown");
  });
  feed.observe(["host"], async () => {
    throw new Error("rejected");
  });
  feed.observe(["host"], (fact) => {
    if (fact.kind === "host") seen.push(fact.host);
  });
  for (let i = 0; i < 3; i++) feed.note(host(i));
  await until(() => seen.length === 3 && thrown.length === 6);
  assert.deepEqual(thrown.map((error) => (error as Error).message).sort(), [
    ...Array<string>(3).fill("rejected"),
    ...Array<string>(3).fill("thrown"),
  ]);
});

test("an observer that has stopped hears nothing more, not even what waits for it", async () => {
  const feed = new Feed(apart);
  const seen: unknown[] = [];
  const observation = feed.observe(["host"], (fact) => void seen.push(fact));
  feed.note(host(1));
  observation.stop();
  feed.note(host(2));
  const other: unknown[] = [];
  feed.observe(["host"], (fact) => void other.push(fact));
  feed.note(host(3));
  await until(() => other.length === 1);
  assert.deepEqual(seen, []);
});

test("a fact is one line of JSON, whatever was thrown", () => {
  const failure = (error: unknown) =>
    JSON.parse(
      lineOf({
        kind: "failure",
        atMs: 1,
        context: "A",
        method: "b",
        startedBy: "timer",
        error,
        unreported: 0,
      }),
    ).error;
  const coded = failure(new HeadwaterError("HW-1301", "it is full.\nReally."));
  assert.deepEqual([coded.code, coded.message], ["HW-1301", "HW-1301: it is full.\nReally."]);
  assert.match(coded.stack, /feed\.test/);
  assert.equal(failure("text"), "text");
  assert.equal(failure(12n), "12");
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  assert.equal(failure(cyclic), "something that cannot be shown was thrown");
  const odd = Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("no");
    },
  });
  assert.equal(failure(odd).message, "an error that cannot be shown");
});
