import assert from "node:assert/strict";
import { test } from "node:test";
import { AnonymousContext, Context, type RunOptions, run } from "headwater";
import { refused } from "../refused.js";

/** HW-1025: what `run` is given is looked through before anything begins. */

class Counter extends Context {
  n = 0;
  add() {
    this.n += 1;
    return this.n;
  }
}

const runAnything = run as (...args: unknown[]) => Promise<unknown>;

test("HW-1025: what is no program is refused by name", async () => {
  await refused(runAnything(), "HW-1025", "a root class", "not undefined");
  await refused(runAnything(5), "HW-1025", "not 5");
  await refused(runAnything(null), "HW-1025", "not null");
  await refused(runAnything("Counter"), "HW-1025", 'not "Counter"');
  await refused(runAnything([Counter]), "HW-1025", "not an array");
  await refused(runAnything(Context), "HW-1025", "Context itself", "extends Context");
  await refused(runAnything(AnonymousContext), "HW-1025", "AnonymousContext itself");
});

test("HW-1025: a limit is a whole number above 0, of a name that there is", async () => {
  for (const limit of [Number.NaN, -1, 0, 1.5, "10", null])
    await refused(
      runAnything(Counter, { limits: { inFlight: limit } }),
      "HW-1025",
      "inFlight",
      String(limit),
    );
  await refused(runAnything(Counter, { limits: { inflight: 10 } }), "HW-1025", '"inflight"');
  await refused(runAnything(Counter, { limits: 10 }), "HW-1025", "limits", "10");
});

test("a limit that is undefined is the default", async () => {
  const options = { limits: { inFlight: undefined, contexts: undefined } } as unknown as RunOptions;
  await using service = await run(Counter, options);
  assert.equal(await service.root.add(), 1);
});

test("HW-1025: other options are what they may be", async () => {
  await refused(
    runAnything(Counter, { commitOrder: "foo" }),
    "HW-1025",
    "commitOrder",
    '"observer"',
    '"foo"',
  );
  await refused(runAnything(Counter, { durability: "maybe" }), "HW-1025", "durability", '"written"');
  await refused(runAnything(Counter, { takeOver: "yes" }), "HW-1025", "takeOver", "true or false");
  await refused(runAnything(Counter, { onError: "log" }), "HW-1025", "onError", "a function");
  await refused(runAnything(Counter, null), "HW-1025", "options", "null");
  await using service = await run(Counter, { commitOrder: "total", hosts: 1 });
  assert.equal(await service.root.add(), 1);
});
