import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MAIN, ROOT, Running, runHere } from "../cli/headwater.js";
import { blocksOf } from "../house/blocks.js";
import { temporaryDirectory } from "./support.js";

/** What the README shows about crashes. */

const page = readFileSync(join(ROOT, "README.md"), "utf8");
const blocks = blocksOf(page).filter(({ section }) => section === "Surviving a crash");

interface Ended {
  readonly wasKilled: boolean;
  readonly stdout: string;
}

function shell(t: TestContext, command: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile("sh", ["-c", command], { cwd: ROOT }, (error, stdout) => {
      resolve({ wasKilled: error?.signal === "SIGKILL" || error?.code === 137, stdout });
    });
    t.after(() => child.kill("SIGKILL"));
  });
}

/** The balances of a line, in the order of the page. */
function balancesIn(line: string): number[] {
  const [, ...balances] = /: north ada (\d+), ben (\d+); south cleo (\d+)$/.exec(line) ?? [];
  return balances.map(Number);
}

function isNear(line: string, shown: string): boolean {
  const [found, wanted] = [balancesIn(line), balancesIn(shown)];
  assert.equal(
    found.reduce((sum, each) => sum + each, 0),
    300,
    line,
  );
  return wanted.every((balance, i) => Math.abs(balance - (found[i] ?? 0)) <= 1);
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/\d+/g, "N");
}

test("the README's bank is killed and goes on with its money", async (t) => {
  const journal = await temporaryDirectory(t);
  const [commands, shown] = blocks;
  assert.deepEqual([commands?.language, shown?.language], ["sh", "text"]);
  const [first = "", second = "", ...rest] = (commands?.text ?? "").trimEnd().split("\n");
  assert.deepEqual(rest, []);
  const here = (line: string) =>
    line.replace("npx headwater", `"${process.execPath}" "${MAIN}"`).replace("bank-data", `"${journal}"`);
  assert.ok((await shell(t, here(first))).wasKilled);
  const { wasKilled, stdout } = await shell(t, here(second));
  assert.ok(!wasKilled);
  assert.equal(withoutNumbers(stdout), withoutNumbers(shown?.text ?? ""));
  for (const line of stdout.trimEnd().split("\n")) assert.equal(balancesIn(line).length, 3, line);
});

test("killed while the coin goes round, it shows the balances of the README", async (t) => {
  const journal = await temporaryDirectory(t);
  const running = new Running(["run", "examples/bank", "--journal", journal, "--forever"], ROOT);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("transfers later");
  running.interrupt("SIGKILL");
  assert.equal((await running.ended).exitCode, null);
  const { exitCode, stdout } = await runHere(ROOT, "run", "examples/bank", "--journal", journal);
  assert.equal(exitCode, 0);
  const shown = blocks[1]?.text.trimEnd().split("\n") ?? [];
  for (const [i, line] of stdout.trimEnd().split("\n").entries())
    assert.ok(isNear(line, shown[i] ?? ""), line);
});
