import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { withSurvey } from "#src/journal/survey.js";
import { Random } from "#src/sim/random.js";
import { decode } from "#src/state/codec.js";
import { headwater } from "../cli/headwater.js";
import { ACCOUNTS, IDENTITY, newDirectory, Other } from "./support.js";

const KILLS = 10;

/** Every value and every commit has the right checksum, and nothing is missing. */
async function checkAll(directory: string): Promise<void> {
  await withSurvey(directory, async (survey) => {
    for (const [key, value] of survey.entries) assert.notEqual(value, null, `the value of ${key} is damaged`);
    assert.deepEqual([survey.damages, survey.missing()], [[], 0]);
  });
}

describe("after kill -9", { concurrency: true }, () => {
  for (const durability of ["synced", "written"] as const) {
    test(`every acknowledged group is there, and no group in part (${durability})`, async (t) => {
      const directory = newDirectory(t);
      const random = new Random(42);
      const start = (kill: number) => new Other(t, "transfers", [directory, String(kill), durability]);
      let acknowledged = -1;
      let next = start(0);
      for (let kill = 0; kill < KILLS; kill++) {
        const other = next;
        other.tell("begin");
        const enough = acknowledged + 1 + random.int(400);
        await other.hears((said): said is number => typeof said === "number" && said >= enough);
        other.kill();
        await other.ended;
        if (kill + 1 < KILLS) next = start(kill + 1); // it takes a while, and begins only when told to
        const said = other.said as number[];
        assert.deepEqual(
          said,
          Array.from(said, (_, i) => (said[0] ?? 0) + i),
          "acknowledged in order, without gaps",
        );
        acknowledged = said.at(-1) ?? acknowledged;

        await checkAll(directory);
        const journal = await openLmdbJournal(directory, IDENTITY, { durability });
        const found = new Map([...journal.range("")].map(([key, value]) => [key, Number(decode(value))]));
        await journal.close();
        const last = found.get("last") ?? -1;
        assert.ok(last >= acknowledged, `${acknowledged} was acknowledged, and ${last} is the last`);
        const done = [...found.keys()].filter((key) => key.startsWith("done/"));
        assert.equal(done.length, last + 1, "every group until the last one is there");
        const amounts = Array.from({ length: ACCOUNTS }, (_, i) => found.get(`account/${i}`) ?? 0);
        assert.equal(
          amounts.reduce((sum, amount) => sum + amount, 0),
          0,
          "no group is there in part",
        );
      }
      const verified = await headwater("journal", "verify", directory);
      assert.equal(verified.exitCode, 0, verified.stdout);
    });
  }
});
