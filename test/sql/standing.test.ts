import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { compareRandom, openPostgres } from "./campaign.js";
import type { Postgres } from "./postgres.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 150);

let postgres: Postgres;

before(async () => {
  postgres = await openPostgres();
});

after(async () => {
  await postgres.stop();
});

describe("what a standing query has emitted adds up to what PostgreSQL answers", () => {
  for (const kind of ["stream", "changelog"] as const)
    test(`over a ${kind}, after every round and every restart`, async () => {
      const { compared, refused } = await compareRandom(postgres, kind, RUNS);
      assert.deepEqual([...refused], [], "all that is generated is supported");
      assert.ok(compared > 0.9 * RUNS, `only ${compared} of ${RUNS} queries were compared`);
    });
});
