import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CRASH_PLANTS,
  EVICTION_PLANTS,
  MIGRATION_PLANTS,
  PLANTS,
  type Plant,
  runCampaign,
} from "headwater/sim";

/** Where to begin: for most of them anywhere, but some take hundreds of seeds to show themselves. */
const FIRST: Partial<Record<Plant, number>> = {
  "callers-as-they-are": 150,
  "forget-tickets": 400,
  "copy-unmade": 460,
};
/** Enough for each of them, with room to spare, also when a change of the generator makes another seed the first. */
const SEEDS_MAX = 3000;

function* from(first: number): Iterable<number> {
  for (let seed = first; seed < first + SEEDS_MAX; seed++) yield seed;
}

for (const plant of [...PLANTS, ...CRASH_PLANTS, ...MIGRATION_PLANTS, ...EVICTION_PLANTS]) {
  test(`the simulator finds the planted bug "${plant}" and shrinks what shows it`, async () => {
    const isOneOf = (plants: readonly Plant[]) => plants.includes(plant);
    const crashes = isOneOf(CRASH_PLANTS) || isOneOf(EVICTION_PLANTS);
    const hosts = isOneOf(MIGRATION_PLANTS) || isOneOf(EVICTION_PLANTS);
    const { failure } = await runCampaign({
      seeds: from(FIRST[plant] ?? 1),
      plant,
      crashes,
      hosts,
      events: crashes || hosts ? 100 : 500,
    });
    assert.ok(failure !== null, `not found in ${SEEDS_MAX} seeds`);
    const { found, shrunk } = failure;
    assert.ok(shrunk.differences.length > 0);
    assert.ok(shrunk.scenario.workload.length < found.scenario.workload.length);
  });
}
