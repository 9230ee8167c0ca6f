import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterPlant } from "./sim-cluster.js";
import { simulatedLogs } from "./sim-run-logs.js";

const SEEDS = Number(process.env.HEADWATER_SEEDS ?? 12);
const PLANT_SEEDS = 100;
const FIRST_SEED = Number(process.env.HEADWATER_SEED ?? 1);

/** Begins shortly before a seed that finds it. */
async function finds(plant: ClusterPlant, first: number): Promise<string | null> {
  for (let seed = first; seed < first + PLANT_SEEDS; seed++) {
    const found = await simulatedLogs(seed, plant).then(
      () => null,
      (error: unknown) => `seed ${seed}: ${error}`,
    );
    if (found !== null) return found;
  }
  return null;
}

describe("a simulated cluster with several logs", () => {
  test("its messages come once and in order, whoever takes over which log when", async (t) => {
    const all = { takeovers: 0, stepDowns: 0, handovers: 0, cuts: 0, steps: 0 };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const { takeovers, stepDowns, handovers, cut, steps } = await simulatedLogs(seed).catch(
        (error: unknown) => {
          throw new Error(`seed ${seed}: ${error}`, { cause: error });
        },
      );
      all.takeovers += takeovers;
      all.stepDowns += stepDowns;
      all.handovers += handovers;
      all.cuts += cut;
      all.steps += steps;
    }
    const shown = JSON.stringify(all);
    assert.ok(all.takeovers > SEEDS * 4 && all.stepDowns > SEEDS && all.handovers > SEEDS / 2, shown);
    t.diagnostic(shown);
  });

  const plants = [
    ["confirmed early", 1],
    ["overtaken forgotten", 1],
    ["gap accepted", 1],
    ["mark forgotten", 1],
    ["unsent forgotten", 1],
  ] as const;
  for (const [plant, first] of plants) {
    test(`a planted mistake is found: ${plant}`, async (t) => {
      const found = await finds(plant, first);
      assert.ok(found !== null);
      t.diagnostic(found);
    });
  }
});
