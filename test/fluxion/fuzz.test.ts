import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../fuzz/main.ts", import.meta.url));

/** In a process of its own: programs end theirs, and leave promises behind. */
function fuzz(
  ...args: readonly string[]
): Promise<{ readonly printed: string; readonly code: number | null }> {
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, "fluxions", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ printed, code })));
}

test("random Express programs do the same when they are compiled", async () => {
  const { printed, code } = await fuzz("--programs", "150", "--seed", "1");
  assert.equal(code, 0, printed);
  const [, stages = "0", calls = "0"] = /(\d+) with stages, (\d+) calls elsewhere/.exec(printed) ?? [];
  assert.ok(Number(stages) > 50 && Number(calls) > 300, printed);
});
