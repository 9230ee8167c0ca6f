import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

test("ws asks a server process over a socket, and every event it reports took place", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "ws", "--quick", "--json", "--events", "340"];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const figures = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    figures.map((each) => `${each.case} ${each.inFlight}`),
    [1, 256, 1024].flatMap((inFlight) => [`headwater ${inFlight}`, `headwater-ws ${inFlight}`]),
  );
  for (const each of figures) {
    assert.equal(each.bench, "ws");
    assert.equal(each.events, 5 * 340);
    assert.ok(Number(each.eventsPerSecond) > 0 && Number(each.p50Ms) > 0 && Number(each.ratio) > 0);
  }
});
