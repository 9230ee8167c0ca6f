import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./programs/alarms.ts", import.meta.url));

function start(t: TestContext, ...args: string[]): { child: ChildProcess; said: Promise<string> } {
  const child = spawn(process.execPath, ["--import", "tsx", PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const said = once(createInterface(child.stdout), "line").then(([line]) => String(line));
  return { child, said };
}

test("timers of a process that was killed go off in the next one, in due order", async (t) => {
  const journal = await mkdtemp(join(tmpdir(), "headwater-killed-"));
  t.after(() => rm(journal, { recursive: true }));
  const first = start(t, journal, "set");
  assert.equal(await first.said, "set");
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  const second = start(t, journal, "listen");
  const [odd, even] = [0, 1].map((rest) => Array.from({ length: 12 }, (_, i) => 2 * i + 1 + rest));
  assert.deepEqual(JSON.parse(await second.said), [...(odd ?? []), ...(even ?? [])]);
  await once(second.child, "close");
});
