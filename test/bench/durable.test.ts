import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

const CASES = [
  "append-fdatasync",
  "headwater-durable",
  "headwater-durable-written",
  "headwater-durable-ws",
  "headwater",
  "headwater-ws",
];

test("durable uses a real journal and a real server process, and every event it reports took place", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "durable", "--quick", "--json", "--events", "340"];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const figures = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    figures.map((each) => `${each.case} ${each.inFlight}`),
    [1, 256, 1024].flatMap((inFlight) => CASES.map((name) => `${name} ${inFlight}`)),
  );
  for (const each of figures) {
    assert.equal(each.bench, "durable");
    assert.equal(each.events, 5 * 340);
    assert.ok(Number(each.eventsPerSecond) > 0 && Number(each.p50Ms) > 0 && Number(each.ratio) > 0);
  }
});
