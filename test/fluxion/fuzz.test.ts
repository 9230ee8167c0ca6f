import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../fuzz/main.ts", import.meta.url));

/** In a process of its own: programs end theirs, and leave promises behind. */
function fuzz(
  ...args: readonly string[]
): Promise<{ readonly printed: string; readonly code: number | null }> {
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning", "--import", "tsx"];
  const child = spawn(process.execPath, [...flags, MAIN, "fluxions", ...args], {
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

/** Rules of the compiler, and the seed from which a program is near that shows what they are for. */
const PLANTS: Readonly<Record<string, number>> = {
  state: 5005,
  "unknown code": 5020,
  "after a cut": 6095,
  "promises awaited": 5055,
  "effects in order": 5078,
  "begun by a middleware": 5085,
  "requests as they come": 7418,
};

for (const [rule, seed] of Object.entries(PLANTS)) {
  test(`a compiler that does not heed the rule "${rule}" is found out`, async () => {
    const { printed, code } = await fuzz(
      "--without",
      rule,
      "--seed",
      String(seed),
      "--programs",
      "400",
      "--large",
    );
    assert.equal(code, 1, printed);
  });
}
