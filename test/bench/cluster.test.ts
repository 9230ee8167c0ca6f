import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

test("cluster prints one JSON object per case, beside JetStream alone, and what killed processes cost", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "cluster", "--quick", "--json"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    rows.map((row) => row.case),
    [
      "jetstream-batched",
      "headwater-cluster",
      "jetstream-one",
      "headwater-one-at-head",
      "headwater-one-at-gateway",
      "head-killed",
      "gateway-killed",
    ],
  );
  for (const row of rows) {
    assert.equal(row.bench, "cluster");
    for (const field of ["eventsPerSecond", "p50Ms", "p99Ms", "ratio", "bytesPerEvent", "kills"])
      if (field in row) assert.ok(Number(row[field]) > 0, `${field} in ${JSON.stringify(row)}`);
  }
  assert.match(stderr, /60,000 durable events per second/);
});
