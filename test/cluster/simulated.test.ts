import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SimStream } from "#src/sim/world/sim-log.js";
import type { ClusterPlant } from "./sim-cluster.js";
import { simulated } from "./sim-run.js";

const SEEDS = Number(process.env.HEADWATER_SEEDS ?? 20);
const PLANT_SEEDS = 100;
const FIRST_SEED = Number(process.env.HEADWATER_SEED ?? 1);

/** Begins shortly before a seed that finds it; the next ones do, too. */
async function finds(plant: ClusterPlant | null, first: number, fences = true): Promise<string | null> {
  for (let seed = first; seed < first + PLANT_SEEDS; seed++) {
    const found = await simulated(seed, plant, new SimStream(fences)).then(
      () => null,
      (error: unknown) => String(error),
    );
    if (found !== null) return found;
  }
  return null;
}

describe("a simulated cluster", () => {
  test("keeps its promises, whoever takes over when and whatever the log does", async (t) => {
    const all = { takeovers: 0, stepDowns: 0, handovers: 0, cuts: 0 };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const { takeovers, stepDowns, handovers, cut } = await simulated(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error}`, { cause: error });
      });
      all.takeovers += takeovers;
      all.stepDowns += stepDowns;
      all.handovers += handovers;
      if (cut > 1) all.cuts += 1;
    }
    const { takeovers, stepDowns, handovers, cuts } = all;
    const shown = JSON.stringify(all);
    assert.ok(takeovers > SEEDS * 2 && stepDowns > SEEDS && handovers > SEEDS / 2 && cuts > SEEDS / 2, shown);
    t.diagnostic(shown);
  });

  const plants = [
    ["overlay kept", 15],
    ["lagging table", 4],
    ["retried as new", 20],
    ["early cut", 4],
  ] as const;
  for (const [plant, first] of plants) {
    test(`a planted mistake is found: ${plant}`, async () => {
      assert.ok((await finds(plant, first)) !== null);
    });
  }

  test("a planted mistake is found: no fence", async () => {
    assert.ok((await finds(null, 1, false)) !== null);
  });
});
