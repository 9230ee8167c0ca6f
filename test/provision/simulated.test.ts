import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random } from "#src/random.js";
import { PLANTS, type Plant, SimProcesses } from "./sim-processes.js";

const SEEDS = Number(process.env.SEEDS ?? 6);
const PLANT_SEEDS_MAX = 400;

async function simulated(seed: number, isLocal: boolean, plant: Plant | null = null) {
  const world = new SimProcesses({ random: new Random(seed), isLocal, plant });
  await world.run().catch((error: unknown) => {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  });
  return world.counts;
}

describe("processes come and go with a load that flaps, while heads are killed and paused", () => {
  for (const isLocal of [false, true])
    test(`and come to rest when that ends, made by ${isLocal ? "their head" : "a command that fails, is slow, or was heard late"}`, async () => {
      const all = { added: 0, removed: 0, takeovers: 0, warnings: 0, failed: 0, never: 0 };
      for (let seed = 1; seed <= SEEDS; seed++) {
        const counts = await simulated(seed, isLocal);
        for (const each of Object.keys(all) as (keyof typeof all)[]) all[each] += counts[each];
      }
      for (const [what, count] of Object.entries(all)) assert.ok(count >= SEEDS / 4, `${what}: ${count}`);
    });
});

describe("the simulation finds", () => {
  for (const plant of PLANTS)
    test(plant, async () => {
      for (let seed = 1; seed <= PLANT_SEEDS_MAX; seed++) {
        const found = await simulated(seed, false, plant).then(
          () => false,
          () => true,
        );
        if (found) return;
      }
      assert.fail(`not found with ${PLANT_SEEDS_MAX} seeds`);
    });
});
