import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const EVENTS = 170;
const root = new URL("../../", import.meta.url);
const SMALL = [
  "batched-messages",
  "headwater-hosts",
  "headwater-call-near",
  "headwater-call-far",
  "comedy-threads",
  "piscina",
];
const LARGE = [
  "bare-threads-work-1",
  "bare-threads-work-2",
  "headwater-hosts-work-1",
  "headwater-hosts-work-2",
];

test("hosts prints one JSON object per case and setting, and what a killed host costs", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "hosts", "--quick", "--json", "--events", `${EVENTS}`];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const lines = stdout.trimEnd().split("\n");
  const figures = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const killed = figures.pop();
  assert.deepEqual(
    figures.map((each) => `${each.case} ${each.inFlight}`),
    [...[1, 1024].flatMap((n) => SMALL.map((name) => `${name} ${n}`)), ...LARGE.map((name) => `${name} 64`)],
  );
  for (const each of figures) {
    assert.equal(each.bench, "hosts");
    assert.equal(each.journal, "none");
    assert.equal(each.events, 3 * EVENTS);
    for (const field of ["eventsPerSecond", "p50Ms", "p99Ms", "ratio"])
      assert.ok(Number(each[field]) > 0, `${field} in ${JSON.stringify(each)}`);
  }
  assert.equal(figures.find((each) => each.case === "headwater-hosts")?.hosts, 2);
  assert.equal(killed?.case, "host-killed");
  for (const field of ["contexts", "firstMs", "allMs", "otherMs"]) assert.ok(Number(killed?.[field]) > 0);
  assert.match(stderr, /headwater-hosts reaches 300,000 events per second/);
  assert.match(stderr, /a context of a killed host answers within 300 ms/);
});
