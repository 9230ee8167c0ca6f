import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "headwater";
import LinearRoad, { drive } from "../../examples/linear-road/contexts.js";
import { naive } from "../../examples/linear-road/naive.js";
import { QueriedRoad } from "../../examples/linear-road/queries.js";
import { nothingTold, type Outcome, sorted } from "../../examples/linear-road/records.js";
import { Traffic } from "../../examples/linear-road/traffic.js";

const MINUTES = 6;
const PER_MINUTE = 300;

function roadOf(seed: number) {
  const traffic = new Traffic({ seed, xways: 1, minutes: MINUTES, perMinute: PER_MINUTE });
  const seconds = traffic.seconds();
  const history = traffic.history(PER_MINUTE * MINUTES);
  return { seconds, history, expected: sorted(naive(seconds, history)) };
}

/** The traffic has what the rules speak of; otherwise any implementation would do. */
function checkVariety({ tolls, accidents, balances, expenditures }: Outcome): void {
  assert.ok(tolls.filter(({ toll }) => toll > 0).length > 100, "hardly any tolls");
  assert.ok(tolls.filter(({ toll }) => toll === 0).length > 100, "hardly any free segments");
  assert.ok(accidents.length > 10, "hardly any accidents");
  assert.ok(balances.filter(({ value }) => value > 0).length > 10, "hardly any charges");
  assert.ok(expenditures.filter(({ value }) => value > 0).length > 10, "hardly any history");
}

test("Linear Road as queries tells vehicles what the rules say, also over restarts", async (t) => {
  const { seconds, history, expected } = roadOf(1);
  checkVariety(expected);
  const journal = await mkdtemp(join(tmpdir(), "headwater-road-"));
  t.after(() => rm(journal, { recursive: true, force: true }));
  const outcome = nothingTold();
  let road = await QueriedRoad.open(history, { journal });
  for (const second of seconds) {
    if (second.time % 97 === 96) road = await road.reopened({ journal });
    await road.drive(second, outcome);
  }
  await road.close();
  assert.deepEqual(sorted(outcome), expected);
});

for (const hosts of [1, 2])
  test(`Linear Road as contexts on ${hosts} host${hosts === 1 ? "" : "s"} tells vehicles what the rules say`, async () => {
    const { seconds, history, expected } = roadOf(1 + hosts);
    checkVariety(expected);
    const module = new URL("../../examples/linear-road/contexts.ts", import.meta.url).href;
    await using service = await run(LinearRoad, { hosts, module });
    await service.root.remember(history);
    const outcome = nothingTold();
    for (const second of seconds) await drive(service.root, second, outcome);
    assert.deepEqual(sorted(outcome), expected);
  });
