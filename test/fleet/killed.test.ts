import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "headwater";
import Store from "./programs/store.js";

const program = fileURLToPath(new URL("./programs/mover.ts", import.meta.url));

/** Runs the program until it has said so many lines, and kills it. Returns what it had said. */
async function killedAfter(lines: number, journal: string, name: string): Promise<string[]> {
  const child = spawn(process.execPath, ["--import", "tsx", program, journal, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === lines) child.kill("SIGKILL");
  }
  return said;
}

test("the whole program is killed in the middle of moves, and what was acknowledged is there once", async (t) => {
  const journal = await mkdtemp(join(tmpdir(), "headwater-killed-"));
  t.after(() => rm(journal, { recursive: true }));
  const said: string[] = [];
  for (const [i, name] of ["a", "b", "c"].entries())
    said.push(...(await killedAfter(40 + 17 * i, journal, name)));
  await using service = await run(Store, { journal });
  const { log, size, count } = await service.root.shelves(1).seen();
  assert.equal(size, 300);
  assert.equal(count, log.length);
  assert.equal(new Set(log).size, log.length);
  // The last of each process may have been committed, and nobody was told.
  assert.deepEqual(
    log.filter((id) => said.includes(id)),
    said,
  );
  assert.ok(log.length <= said.length + 3);
});
