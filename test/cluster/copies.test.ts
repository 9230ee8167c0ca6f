import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writtenBySeveralHeads } from "./copies-log.js";
import type { CopyPlant } from "./copies-plants.js";
import { copied } from "./copies-run.js";

const SEEDS = Number(process.env.HEADWATER_SEEDS ?? 12);
const FIRST_SEED = Number(process.env.HEADWATER_SEED ?? 1);
const PLANT_SEEDS = 30;

describe("copies of engines in a simulated cluster", () => {
  test("all processes have the same results at the same records, and a new head goes on with its copies", async (t) => {
    const all = { made: 0, taken: 0, diverged: 0, takeovers: 0, compared: 0 };
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const found = await copied(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error}`, { cause: error });
      });
      assert.equal(found.diverged, 0, `seed ${seed}`);
      for (const [name, count] of Object.entries(found)) all[name as keyof typeof all] += count;
    }
    t.diagnostic(JSON.stringify(all));
    assert.ok(all.made > SEEDS * 4 && all.taken > SEEDS && all.compared > SEEDS * 30, JSON.stringify(all));
  });

  const plants: readonly CopyPlant[] = [
    "skipped batch",
    "digest of another record",
    "part of another checkpoint",
  ];
  for (const plant of plants) {
    test(`a planted mistake is found: ${plant}`, async () => {
      for (let seed = 1; seed <= PLANT_SEEDS; seed++) {
        const isFound = await copied(seed, plant).then(
          ({ diverged }) => diverged > 0,
          () => true,
        );
        if (isFound) return;
      }
      assert.fail(`${PLANT_SEEDS} seeds do not show it`);
    });
  }
});

describe("copies of engines, fed from a log with messages of heads that were heads no longer", () => {
  test("a copy is what the messages that count make of it, whenever it was made", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { copy, engine, diverged, checkpoints, made } = await writtenBySeveralHeads(seed);
      assert.deepEqual(
        [copy?.position, copy?.digest, diverged],
        [engine.position, engine.digest, 0],
        `seed ${seed}`,
      );
      assert.ok(
        checkpoints > 0 && made === 1,
        `seed ${seed}: ${made} copies over ${checkpoints} checkpoints`,
      );
    }
  });

  test("a planted mistake is found: void messages are applied", async () => {
    let found = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const { copy, engine, diverged } = await writtenBySeveralHeads(seed, "void messages");
      if (diverged > 0 || copy === null || copy.digest !== engine.digest) found += 1;
    }
    assert.ok(found > 20, `${found}`);
  });
});
