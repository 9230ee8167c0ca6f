import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

test("restate prints one JSON object per case, and a quick run measures Headwater alone", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "restate", "--quick", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    rows.map((row) => [row.bench, row.case, row.inFlight]),
    [
      ["restate", "headwater-http", 1],
      ["restate", "headwater-http", 16],
    ],
  );
  for (const row of rows) assert.ok(Number(row.requestsPerSecond) > 0 && Number(row.p99Ms) > 0);
});
