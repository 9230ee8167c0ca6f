import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Context, type HeadwaterError } from "headwater";
import { simulate } from "headwater/test";
import Counters, { Counter, sleep } from "./programs/counters.js";

const model = () => {
  const counts = new Map<unknown, number>();
  return ({ key, method, args }: { key: unknown; method: string; args: readonly unknown[] }) => {
    if (method === "add") counts.set(key, (counts.get(key) ?? 0) + Number(args[0]));
    return counts.get(key) ?? 0;
  };
};

describe("a simulated program", () => {
  test("does what a model does, in the order of tickets", async () => {
    const { runs, crashes } = await simulate(Counters, {
      runs: 10,
      model,
      act: async ({ root, random }) => {
        const counter = root.counters(random.pick(["a", "b"]));
        await (random.chance(0.7) ? counter.add(random.int(5)) : counter.current());
      },
    });
    assert.equal(runs, 10);
    assert.ok(crashes > 0);
  });

  test("is compared with the model's results", async () => {
    const wrong = () => () => 1;
    const simulation = simulate(Counters, {
      runs: 5,
      model: wrong,
      act: ({ root }) => root.counters("a").add(1),
    });
    await assert.rejects(
      simulation,
      /a schedule of 2 acts.*Counters\.counters\("a"\)\.add\(1\) returns 2; the model returns 1/s,
    );
  });

  test("can be asked what fast-check draws, which makes it small", async () => {
    const additions = fc.array(fc.record({ key: fc.constantFrom("a", "b"), by: fc.nat(9) }), {
      maxLength: 8,
    });
    const run = (given: readonly { key: string; by: number }[], seed: number, limit: number) =>
      simulate(Counters, {
        runs: 1,
        seed,
        shrink: false,
        acts: given.length,
        model,
        act: ({ root, index }) => root.counters(given[index]?.key ?? "").add(given[index]?.by ?? 0),
        invariant: ({ all }) => assert.ok(all(Counter).every(({ count }) => count < limit)),
      });
    await fc.assert(
      fc.asyncProperty(additions, fc.nat(1000), async (given, seed) => {
        await run(given, seed, 100);
      }),
      { numRuns: 5 },
    );
    const small = await fc.check(
      fc.asyncProperty(additions, async (given) => {
        await run(given, 3, 9);
      }),
      { seed: 7, numRuns: 30 },
    );
    assert.ok(small.failed);
    const drawn = small.counterexample?.[0] ?? [];
    assert.equal(new Set(drawn.map(({ key }) => key)).size, 1);
    assert.equal(
      drawn.reduce((sum, { by }) => sum + by, 0),
      9,
    );
  });

  test("fails with errors that are not allowed, also of timers' events", async () => {
    const failing = {
      runs: 2,
      act: ({ root }: { root: { counters(key: string): { fail(): unknown } } }) => root.counters("a").fail(),
    };
    await assert.rejects(simulate(Counters, failing), /a schedule of 1 act breaks the program: not today/);
    await simulate(Counters, { ...failing, allow: (error) => error instanceof RangeError });
    const later = {
      runs: 2,
      crashes: false,
      act: ({ root }: { root: { counters(key: string): { failLater(): unknown } } }) =>
        root.counters("a").failLater(),
    };
    await assert.rejects(simulate(Counters, later), /Counters\.counters\("a"\)\.fail failed: not today/);
  });

  test("has virtual time: timers, waiting and clocks", async () => {
    const real = performance.now();
    let thought = 0;
    await simulate(Counters, {
      runs: 3,
      acts: 3,
      crashes: false,
      lastsMs: 100_000,
      act: async ({ root, index }) => {
        await root.counters("later").addLater(90_000);
        const drawn = await root.counters(`thinker ${index}`).think();
        thought += drawn < 1 ? 1 : 0;
      },
      atRest: ({ all, byAddress }) => {
        assert.equal(byAddress.get('Counters.counters("later")')?.count, 3);
        assert.ok(all(Counter).every(({ key, count }) => key === "later" || count === 1));
      },
    });
    assert.equal(thought, 9);
    assert.ok(performance.now() - real < 3_600_000);
  });

  test("tells callers what it sends them", async () => {
    await simulate(Counters, {
      runs: 5,
      acts: 6,
      act: async ({ root, messages, random }) => {
        const before = messages.length;
        await root.counters("a").hear();
        await sleep(10_000 + random.int(100));
        assert.ok(messages.length > before, "the message has not come");
        assert.equal(messages.at(-1), "a has 0");
      },
    });
  });

  test("that waits for something real is reported, not waited for", async () => {
    class Waiter extends Context {
      wait() {
        return new Promise<void>(() => {});
      }
    }
    const simulation = simulate(Waiter, {
      runs: 1,
      acts: 1,
      crashes: false,
      hosts: false,
      act: ({ root }) => root.wait(),
    });
    await assert.rejects(
      simulation,
      (error: HeadwaterError) => (error.cause as HeadwaterError).code === "HW-8006",
    );
  });
});
