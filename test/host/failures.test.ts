import assert from "node:assert/strict";
import { test } from "node:test";
import { type FailedEvent, HeadwaterError } from "headwater";
import { Failures } from "#src/host/node/failures.js";
import { Feed } from "#src/observe/index.js";
import { Random } from "#src/random.js";

/** Failures of requests, whose number strangers decide. */

function heardBy(listener: (failed: FailedEvent) => void): Feed {
  const feed = new Feed((callback) => callback());
  feed.hear("failure", listener);
  return feed;
}

const WINDOW_MS = 60_000;
const KINDS_MAX = 100;

test("of each kind of failure one is reported in a minute, with the number of those before it", () => {
  const random = new Random(1);
  let now = 0;
  const reported: FailedEvent[] = [];
  const failures = new Failures(
    () => now,
    heardBy((failed) => reported.push(failed)),
  );
  const expected: string[] = [];
  const windows = new Map<string, { until: number; hidden: number }>();
  for (let i = 0; i < 5000; i++) {
    now += random.int(200);
    const name = `f${random.int(20)}`;
    failures.ofApi(name, new TypeError("x is undefined"));
    const known = windows.get(name);
    if (known !== undefined && known.until > now) known.hidden += 1;
    else {
      expected.push(`${name} after ${known?.hidden ?? 0}`);
      windows.set(name, { until: now + WINDOW_MS, hidden: 0 });
    }
  }
  assert.deepEqual(
    reported.map(({ method, unreported }) => `${method} after ${unreported}`),
    expected,
  );
});

test("however many kinds of failure strangers think up, a bounded number is reported in a minute", () => {
  let now = 0;
  let reports = 0;
  const failures = new Failures(
    () => now,
    heardBy(() => {
      reports += 1;
    }),
  );
  for (let minute = 1; minute <= 3; minute++) {
    for (let i = 0; i < 1000; i++) failures.ofApi("find", new RangeError(`there is no room ${minute}/${i}`));
    assert.equal(reports, minute * KINDS_MAX);
    now += WINDOW_MS;
  }
});

test("what a program tells its callers on purpose has a name of its own, and is no failure", () => {
  const heard: unknown[] = [];
  const failures = new Failures(
    () => 0,
    heardBy(({ error }) => heard.push(error)),
  );
  class Refused extends Error {
    override name = "Refused";
  }
  const odd = Object.defineProperty(new Error("odd"), "name", {
    get: () => {
      throw new Error("no name");
    },
  });
  const bugs = [
    new Error("a"),
    new TypeError("b"),
    new HeadwaterError("HW-1010", "c"),
    "thrown text",
    undefined,
    odd,
  ];
  for (const error of [new Refused("not today"), ...bugs]) failures.ofApi("f", error);
  assert.deepEqual(heard, bugs);
});
