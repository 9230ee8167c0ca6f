import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);
const CASES = [
  "plain-map",
  "plain-object-untouched",
  "tracked-map-set",
  "tracked-list-push",
  "tracked-list-set",
];
const SIZES = ["1kB", "10kB", "100kB", "1MB", "10MB"];

test("state prints one JSON object per kind of field and size, compared with the smallest", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "state", "--quick", "--json", "--events", "1"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const lines = stdout.trimEnd().split("\n");
  const figures = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    figures.map((each) => `${each.bench} ${each.case} to ${each.baseline}`),
    CASES.flatMap((name) => SIZES.map((size) => `state ${name}-${size} to ${name}-1kB`)),
  );
  for (const each of figures) {
    assert.equal(each.events, each.rounds);
    assert.ok(Number(each.eventsPerSecond) >= 0 && Number(each.ratio) >= 0);
  }
  assert.match(stderr, /HeadwaterLargeField: PlainMap\.accounts/);
  assert.match(stderr, /tracked-map-set-10MB costs at most 2 times as much/);
});
