import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "dist", "cli", "main.js");

function start(example: string, journal: string): { child: ChildProcess; printed: string[]; said: string[] } {
  const child = spawn(process.execPath, [MAIN, "run", `examples/${example}`, "--journal", journal], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, said]: [string[], string[]] = [[], []];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => printed.push(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => said.push(text));
  return { child, printed, said };
}

/** What an example prints when it is killed, and what it prints when it goes on. */
const GOES_ON: Readonly<Record<string, readonly [killed: RegExp, goesOn: RegExp]>> = {
  bank: [/./, /three accounts/],
  game: [
    /joined/,
    /where the last run left them: .*\nthree kids start again: ada in building 0, hallway; .*\n(.*\n)*ada left/,
  ],
  kv: [/./, /./],
  life: [/generation 0/, /the glider goes on where the last run ended/],
  "moving-entities": [/steps/, /40 entities cross/],
};

for (const [example, [killed, goesOn]] of Object.entries(GOES_ON)) {
  test(`${example} goes on with its journal after it was killed, and again after it has ended`, async (t) => {
    const journal = await mkdtemp(join(tmpdir(), "headwater-again-"));
    t.after(() => rm(journal, { recursive: true }));
    const first = start(example, journal);
    first.child.stdout?.on("data", () => killed.test(first.printed.join("")) && first.child.kill("SIGKILL"));
    await once(first.child, "close");
    for (const _ of ["after the kill", "after its end"]) {
      const { child, printed, said } = start(example, journal);
      const [code] = (await once(child, "close")) as [number];
      assert.deepEqual([code, said.join("").match(/HW-\d+.*|failed.*/g)], [0, null], said.join(""));
      assert.match(printed.join(""), goesOn);
    }
  });
}
