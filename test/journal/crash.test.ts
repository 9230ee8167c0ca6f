import assert from "node:assert/strict";
import { test } from "node:test";
import { openJournal } from "#src/journal/open.js";
import { withSurvey } from "#src/journal/survey.js";
import { Random } from "#src/random.js";
import { decode } from "#src/state/codec.js";
import { headwater } from "../cli/headwater.js";
import { ACCOUNTS, acknowledged, IDENTITY, newDirectory, Other } from "./support.js";

const KILLS = 10;
const DURABILITIES = ["synced", "written"] as const;

/** Every value and every commit has the right checksum, and nothing is missing. */
async function checkAll(directory: string): Promise<void> {
  await withSurvey(directory, async (survey) => {
    for (const [key, value] of survey.entries) assert.notEqual(value, null, `the value of ${key} is damaged`);
    assert.deepEqual(survey.damages, []);
  });
}

async function contentOf(directory: string, durability: (typeof DURABILITIES)[number]) {
  const journal = await openJournal(directory, IDENTITY, { durability });
  const content = new Map([...journal.range("")].map(([key, value]) => [key, Number(decode(value))]));
  await journal.close();
  return content;
}

test("after kill -9 every acknowledged group is there, and no group in part", async (t) => {
  const random = new Random(42);
  const directories = { synced: newDirectory(t), written: newDirectory(t) };
  const journals = DURABILITIES.map((durability) => `${durability}:${directories[durability]}`);
  const start = (kill: number) => new Other(t, "transfers", [String(kill), "Infinity", ...journals]);
  const lasts = { synced: -1, written: -1 };
  let next = start(0);
  for (let kill = 0; kill < KILLS; kill++) {
    const other = next;
    if (kill + 1 < KILLS) next = start(kill + 1); // it takes a while to start, and begins only when told to
    other.tell("begin");
    const [which, enough] = [random.pick(DURABILITIES), 1 + random.int(400)];
    await other.hears(acknowledged(which, lasts[which] + enough));
    other.kill();
    await other.ended;
    for (const durability of DURABILITIES) {
      const directory = directories[durability];
      const said = other.said.filter(acknowledged(durability, 0)).map(([, number]) => number);
      const first = said[0] ?? 0;
      assert.deepEqual(
        said,
        said.map((_, i) => first + i),
        "acknowledged in order, without gaps",
      );
      const safe = said.at(-1) ?? lasts[durability];

      await checkAll(directory);
      const found = await contentOf(directory, durability);
      const last = found.get("last") ?? -1;
      assert.ok(last >= safe, `${durability}: ${safe} was acknowledged, and ${last} is the last`);
      const done = [...found.keys()].filter((key) => key.startsWith("done/"));
      assert.equal(done.length, last + 1, "every group until the last one is there");
      const amounts = Array.from({ length: ACCOUNTS }, (_, i) => found.get(`account/${i}`) ?? 0);
      assert.equal(
        amounts.reduce((sum, amount) => sum + amount, 0),
        0,
        "no group is there in part",
      );
      lasts[durability] = last;
    }
  }
  for (const directory of Object.values(directories)) {
    const verified = await headwater("journal", "verify", directory);
    assert.equal(verified.exitCode, 0, verified.stdout);
  }
});
