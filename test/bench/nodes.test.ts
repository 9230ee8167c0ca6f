import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

test("nodes prints one JSON object for each thing that is kept or found, beside its baseline", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "nodes", "--quick", "--json", "--events", "200"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const figures = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    figures.map((each) => `${each.bench} ${each.case} to ${each.baseline}`),
    [
      ...["object-in-map", "node-idle", "node-used", "context-used", "context-again"].map(
        (name) => `nodes ${name} to object-in-map`,
      ),
      ...["as", "peer"].flatMap((what) =>
        [10, 200].map((count) => `nodes find-${what}-of-${count} to find-${what}-of-10`),
      ),
    ],
  );
  for (const each of figures) assert.ok(Number(each.microseconds) >= 0 && Number(each.count) > 0);
  assert.ok(Number(figures.find((each) => each.case === "node-idle")?.bytes) > 0);
  assert.match(stderr, /find-as-of-200 costs at most 2 times as much as find-as-of-10/);
});
