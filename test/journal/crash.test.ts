import assert from "node:assert/strict";
import { test } from "node:test";
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { Random } from "#src/sim/random.js";
import { headwater } from "../cli/headwater.js";
import { ACCOUNTS, allOf, IDENTITY, newDirectory, Other } from "./support.js";

const KILLS = 10;

for (const durability of ["synced", "written"] as const) {
  test(`after kill -9 every acknowledged group is there, and no group in part (${durability})`, async (t) => {
    const directory = newDirectory(t);
    const random = new Random(42);
    let acknowledged = -1;
    for (let kill = 0; kill < KILLS; kill++) {
      const other = new Other(t, "transfers", [directory, String(kill), durability]);
      const enough = acknowledged + 1 + random.int(400);
      await other.hears((said): said is number => typeof said === "number" && said >= enough);
      other.kill();
      await other.ended;
      const said = other.said as number[];
      assert.deepEqual(
        said,
        Array.from(said, (_, i) => (said[0] ?? 0) + i),
        "acknowledged in order, without gaps",
      );
      acknowledged = said.at(-1) ?? acknowledged;

      const verified = await headwater("journal", "verify", directory);
      assert.equal(verified.exitCode, 0, verified.stdout);
      const journal = await openLmdbJournal(directory, IDENTITY, { durability });
      const { last, ...rest } = allOf(journal);
      await journal.close();
      assert.ok(Number(last) >= acknowledged, `${acknowledged} was acknowledged, and ${last} is the last`);
      const done = Object.keys(rest).filter((key) => key.startsWith("done/"));
      assert.equal(done.length, Number(last) + 1, "every group until the last one is there");
      const amounts = Array.from({ length: ACCOUNTS }, (_, i) => Number(rest[`account/${i}`] ?? 0));
      assert.equal(
        amounts.reduce((sum, amount) => sum + amount, 0),
        0,
        "no group is there in part",
      );
    }
  });
}
