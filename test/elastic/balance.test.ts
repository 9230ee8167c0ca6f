import assert from "node:assert/strict";
import { test } from "node:test";
import { balanced } from "#src/elastic/balance.js";
import type { Measurements } from "#src/elastic/policy.js";

/** Hosts with contexts of these loads; one in brackets is bound by a rule. */
function hostsWith(...loads: readonly (readonly (number | readonly [number])[])[]): Measurements {
  const hosts = loads.map((own, id) => ({
    id,
    state: "running" as const,
    utilisation: 0,
    heapBytes: 0,
    stateBytes: 0,
    queueMs: 0,
    p99Ms: 0,
    eventsPerSecond: 0,
    contexts: own.map((each, i) => ({
      context: `${"abcdefg"[id]}${i}`,
      load: typeof each === "number" ? each : each[0],
      bytes: 1000 - 10 * i,
      eventsPerSecond: 1,
      bound: typeof each !== "number",
    })),
  }));
  return { timeMs: 0, hosts };
}

const shown = (now: Measurements, by: "load" | "bytes" = "load") =>
  balanced(now, by).moves.map(({ context, from, to }) => `${context} ${from}>${to}`);

test("the context that leaves the smallest gap moves from the fullest to the emptiest host", () => {
  assert.deepEqual(shown(hostsWith([0.5, 0.3, 0.1], [0.1, 0.25], [0.3])), ["a1 0>2", "a2 0>1"]);
  assert.deepEqual(shown(hostsWith([0.2, 0.2, 0.2, 0.2], [])), ["a0 0>1", "a1 0>1"]);
  assert.deepEqual(shown(hostsWith([0.1, 0.1], [0.1], [0.1, 0.1]), "bytes"), []);
});

test("nothing moves that would not help", () => {
  assert.deepEqual(shown(hostsWith([0.8], [0.1])), []);
  assert.deepEqual(shown(hostsWith([0.3, 0.3], [0.3, 0.28])), []);
  assert.deepEqual(shown(hostsWith([0.9, 0.1])), []);
  assert.deepEqual(shown(hostsWith()), []);
});

test("a context that is too hot stays, others make room for it, and it is named when nothing else helps", () => {
  const hot = balanced(hostsWith([0.9, 0.05, 0.05], [0.1]), "load");
  assert.deepEqual(
    hot.moves.map(({ context }) => context),
    ["a1", "a2"],
  );
  assert.deepEqual(hot.tooHot, [{ context: "a0", host: 0, weight: 0.9 }]);
});

test("what a rule has placed stays there, and counts", () => {
  assert.deepEqual(shown(hostsWith([[0.3], 0.2, 0.2], [0.1])), ["a1 0>1"]);
  assert.deepEqual(shown(hostsWith([[0.3], [0.3]], [])), []);
});

test("a balanced state is one that is left alone", () => {
  for (let seed = 1; seed <= 200; seed++) {
    let bits = seed;
    const random = () => (bits = (Math.imul(bits, 1103515245) + 12345) >>> 0) / 2 ** 32;
    const hosts = Array.from({ length: 2 + (seed % 5) }, () =>
      Array.from({ length: seed % 9 }, () => random() / 5),
    );
    const before = hostsWith(...hosts);
    const after = carriedOut(before);
    const spread = ({ hosts: all }: Measurements) => {
      const sums = all.map(({ contexts }) => contexts.reduce((sum, { load }) => sum + load, 0));
      return Math.max(...sums) - Math.min(...sums);
    };
    assert.ok(spread(after) <= spread(before) + 1e-9, `seed ${seed}`);
    assert.deepEqual(balanced(after, "load", 1000).moves, [], `seed ${seed}`);
  }
});

function carriedOut(now: Measurements): Measurements {
  const { moves } = balanced(now, "load", 1000);
  const where = new Map(moves.map(({ context, to }) => [context, to]));
  const all = now.hosts.flatMap(({ id, contexts }) =>
    contexts.map((each) => ({ each, at: where.get(each.context) ?? id })),
  );
  const hosts = now.hosts.map((host) => ({
    ...host,
    contexts: all.filter(({ at }) => at === host.id).map(({ each }) => each),
  }));
  return { ...now, hosts };
}
