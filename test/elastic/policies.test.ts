import assert from "node:assert/strict";
import { test } from "node:test";
import { keep } from "#src/elastic/keep.js";
import type { Action, Policy } from "#src/elastic/policy.js";
import { fixed, type Trial, tryPolicy } from "#src/elastic/trial/trial.js";
import { loadOf } from "./loads.js";

const bounds = { utilisation: [0.3, 0.7] } as const;

/** Adds above and removes below, at once, whatever it did before. */
function naive(min: number, max: number): Policy {
  return ({ hosts }) => {
    const mean = hosts.reduce((sum, { utilisation }) => sum + utilisation, 0) / hosts.length;
    if (mean > 0.5 && hosts.length < max) return [{ kind: "add", count: 1, reason: "busy" }];
    const last = hosts.at(-1);
    if (mean < 0.5 && hosts.length > min && last) return [{ kind: "remove", host: last.id, reason: "idle" }];
    return [];
  };
}

function actions({ decisions }: Trial, kind: Action["kind"]): number {
  return decisions.filter(({ action }) => action.kind === kind).length;
}

function hostsAt({ samples }: Trial, second: number): number {
  return samples.find(({ timeMs }) => timeMs >= second * 1000)?.hosts ?? 0;
}

test("a load that comes and goes every few seconds does not make hosts come and go", () => {
  const load = () => loadOf({ seconds: 120, hostsAt: (second) => (second % 8 < 4 ? 1.3 : 0.5) });
  const kept = tryPolicy(load(), keep({ ...bounds, min: 1, max: 4 }));
  assert.equal(kept.flaps, 0);
  assert.ok(actions(kept, "add") + actions(kept, "remove") <= 2, JSON.stringify(kept.decisions));
  const hasty = tryPolicy(load(), naive(1, 4));
  assert.ok(hasty.flaps > 10, `${hasty.flaps} flaps`);
});

test("a steady load never makes hosts come and go, wherever it lies", () => {
  for (let hosts = 0.1; hosts < 4; hosts += 0.3) {
    const trial = tryPolicy(
      loadOf({ seconds: 90, hostsAt: () => hosts, costMs: 5 }),
      keep({ ...bounds, min: 1, max: 6 }),
    );
    assert.equal(actions(trial, "remove"), 0, `${hosts}: ${JSON.stringify(trial.decisions)}`);
    assert.equal(trial.flaps, 0);
  }
});

test("bounds that lie close together do not make hosts come and go either", () => {
  const close = keep({ utilisation: [0.55, 0.6], min: 1, max: 6 });
  const trial = tryPolicy(loadOf({ seconds: 120, hostsAt: () => 1.2, costMs: 5 }), close);
  assert.equal(actions(trial, "remove"), 0, JSON.stringify(trial.decisions));
});

test("a load that rises and falls is followed, and costs less than as many hosts as it ever needs", () => {
  const load = () =>
    loadOf({
      seconds: 240,
      hostsAt: (second) => 0.2 + 2.6 * Math.sin((second / 240) * Math.PI) ** 2,
      costMs: 4,
    });
  const kept = tryPolicy(load(), keep({ ...bounds, min: 1, max: 6 }));
  assert.equal(kept.flaps, 0, JSON.stringify(kept.decisions));
  assert.ok(hostsAt(kept, 120) >= 4 && hostsAt(kept, 5) === 1 && (kept.samples.at(-1)?.hosts ?? 9) <= 2);
  const [least, most] = [tryPolicy(load(), fixed), tryPolicy(load(), fixed, { hosts: 6 })];
  assert.ok(kept.p99Ms < least.p99Ms / 10, `${kept.p99Ms} against ${least.p99Ms} ms`);
  assert.ok(kept.hostSeconds < most.hostSeconds * 0.7);
});

test("hosts are not removed in a pause of a burst", () => {
  const load = loadOf({
    seconds: 60,
    hostsAt: (second) => (second > 28 && second < 34 ? 0.1 : 2.2),
    costMs: 5,
  });
  const trial = tryPolicy(load, keep({ ...bounds, min: 1, max: 6 }));
  assert.ok(actions(trial, "add") > 0);
  assert.equal(actions(trial, "remove"), 0);
});

test("a context too hot for any host is left alone, and it is said so once", () => {
  const load = loadOf({
    seconds: 60,
    hostsAt: () => 0.9,
    costMs: 5,
    contextOf: (event) => (event % 25 === 0 ? 1 + (event % 7) : 0),
  });
  const trial = tryPolicy(load, keep({ ...bounds, min: 1, max: 4 }), { hosts: 2 });
  const notes = trial.decisions.flatMap(({ action }) => (action.kind === "note" ? action.reason : []));
  assert.equal(notes.length, 1, notes.join("\n"));
  assert.match(notes[0] ?? "", /Town\.houses\(0\) alone makes host \d 8\d% busy/);
  assert.equal(actions(trial, "add"), 0, JSON.stringify(trial.decisions));
  assert.ok(actions(trial, "balance") <= 1);
});

test("hosts that are unevenly busy are evened out, without more hosts", () => {
  const busy = [0, 1, 2, 3, 4, 5, 6, 7];
  const load = () =>
    loadOf({
      seconds: 60,
      hostsAt: () => 1.15,
      costMs: 3,
      contexts: 8,
      contextOf: (event) => busy[event % 8] ?? 0,
    });
  const skewed: Policy = (now) => {
    // everything starts on the first host
    if (now.timeMs > 1000) return [];
    return (now.hosts[1]?.contexts ?? []).map(({ context }) => ({
      kind: "move",
      context,
      to: 0,
      reason: "to begin with",
    }));
  };
  const own = keep({ utilisation: [0.2, 0.8], min: 2, max: 2 });
  const trial = tryPolicy(load(), (now) => (now.timeMs <= 1000 ? skewed(now) : own(now)), { hosts: 2 });
  const left = tryPolicy(load(), skewed, { hosts: 2 });
  assert.ok(actions(trial, "balance") >= 1, JSON.stringify(trial.decisions));
  assert.ok((trial.samples.at(-2)?.p99Ms ?? 0) < (left.samples.at(-2)?.p99Ms ?? 0) / 10);
});

test("with a bound on memory, hosts double while data grows", () => {
  const growing = [...loadOf({ seconds: 60, hostsAt: () => 0.2 })].map((event) => ({
    ...event,
    bytes: 40_000,
  }));
  for (const bounds of [{ heapBytes: [10e6, 80e6] }, { stateBytes: [5e6, 60e6] }] as const) {
    const trial = tryPolicy(growing, keep({ ...bounds, min: 1, max: 4, doubles: true }));
    assert.deepEqual(
      trial.decisions.flatMap(({ action }) => (action.kind === "add" ? action.count : [])),
      [1, 2],
    );
  }
});

test("a policy that would help nobody is refused", () => {
  for (const wrong of [
    { max: 0, ...bounds },
    { max: 2, min: 3, ...bounds },
    { max: 2 },
    { max: 2, utilisation: [0.7, 0.3] },
    { max: 2, load: [1, 2] },
    { max: 2, inARow: 0, ...bounds },
  ]) {
    assert.throws(() => keep(wrong as never), { code: "HW-6021" });
  }
});

test("the same load gives the same trial", () => {
  const trial = () =>
    tryPolicy(loadOf({ seconds: 30, hostsAt: (second) => second / 10 }), keep({ ...bounds, max: 4 }));
  assert.deepEqual(trial(), trial());
});
