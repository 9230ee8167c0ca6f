import assert from "node:assert/strict";
import { test } from "node:test";
import { packReport } from "#src/fluxion/runtime/parcel.js";
import { RunningStage } from "#src/fluxion/runtime/stages.js";
import { WatchedCalls } from "#src/fluxion/runtime/watched-calls.js";
import { Worth } from "#src/fluxion/runtime/worth.js";

const WORTH_MS = 1e-6;

/** 40 calls, of which workers say that each has kept their thread busy for so long. */
async function called(busyMs: number) {
  const report = packReport({ ok: true, value: 1, effects: [], busyMs });
  const workers = { isFull: false, run: async () => report, stop: async () => {} };
  const calls = new WatchedCalls("package", async () => workers);
  const entry = { id: "s", name: "s", inputs: [], watched: { package: "package", own: [] } };
  const stage = new RunningStage(entry as never, new Worth(WORTH_MS, null), calls);
  const local = () => Array.from({ length: 1000 }, (_, i) => i).length / 1000;
  for (let i = 0; i < 40; i++)
    assert.equal(await calls.call(stage, { id: "s", inputs: [], local } as never, null), 1);
  return { calls, stage };
}

test("a stage that watching makes much slower stays on the main loop, and no call is lost", async () => {
  const { calls, stage } = await called(1e6);
  assert.match(calls.home ?? "", /times as long when it is watched/);
  assert.equal(stage.inWorkers, 16);
  assert.equal(stage.inWorkers + stage.here, 40);
});

test("a stage that is as fast as on the main loop goes on in workers", async () => {
  const { calls, stage } = await called(WORTH_MS);
  assert.equal(calls.home, null);
  assert.ok(stage.inWorkers > 30);
});
