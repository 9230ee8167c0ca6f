import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ParkedEvent, parkedOf, run } from "headwater";
import Mill from "./programs/mill.js";

const program = fileURLToPath(new URL("./programs/mill.ts", import.meta.url));

test("an event that ends its process again and again is parked, and what is behind it goes on", async (t) => {
  const at = await mkdtemp(join(tmpdir(), "headwater-lives-"));
  t.after(() => rm(at, { recursive: true }));
  const [journal, cure, log] = [join(at, "journal"), join(at, "cure"), join(at, "log")];
  const args = ["--import", "tsx", program, journal, cure, log];
  let lives = 0;
  let said = "";
  for (let status: number | null = null; status === null; lives++) {
    const child = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.ok(child.signal === "SIGKILL" || child.status === 0, child.stderr);
    assert.ok(lives < 20, "it is run again and again");
    ({ status, stdout: said } = child);
  }
  const { ground, parked } = JSON.parse(said) as { ground: number; parked: ParkedEvent[] };
  assert.equal(ground, 4);
  assert.deepEqual(
    parked.map(({ context, method, args: [by] }) => [context, method, by]),
    [["Mill", "grind", 2]],
  );
  assert.equal(readFileSync(log, "utf8"), "x".repeat(lives - 1)); // each of them ended one process
  writeFileSync(cure, "");
  await using service = await run(Mill, { journal });
  const events = parkedOf(service);
  assert.equal(await events.replay(events.list()[0]?.id ?? ""), 6);
  assert.deepEqual(events.list(), []);
});
