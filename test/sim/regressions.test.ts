import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { type Scenario, simulate } from "headwater/sim";

/** Scenarios in which the simulator once found a difference, as small as it could make them. */
const folder = new URL("./regressions/", import.meta.url);

for (const file of readdirSync(folder).sort()) {
  const { why, crashes, hosts, ...scenario } = JSON.parse(
    readFileSync(new URL(file, folder), "utf8"),
  ) as Scenario & { why: string; crashes?: boolean; hosts?: boolean };
  test(`${file}: ${why}`, async () => {
    const { differences, events } = await simulate(scenario, { crashes, hosts });
    assert.deepEqual(differences, []);
    assert.ok(crashes || events >= scenario.workload.length);
  });
}
