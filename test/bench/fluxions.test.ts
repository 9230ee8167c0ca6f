import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

test("fluxions compares a compiled server with the plain one and with one moved by hand", async () => {
  const command = ["--import", "tsx", "bench/main.ts", "fluxions", "--quick", "--json", "--threads", "1"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { cwd: root });
  const lines = stdout.trimEnd().split("\n");
  const figures = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    figures.map((each) => `${each.bench} ${each.case} to ${each.baseline}`),
    [
      "fluxions plain to by-hand",
      "fluxions by-hand to by-hand",
      "fluxions compiled to by-hand",
      "fluxions small-plain to small-plain",
      "fluxions small-compiled to small-plain",
      "fluxions compile to undefined",
    ],
  );
  for (const each of figures.slice(0, 5)) {
    assert.equal(each.isCountRight, true);
    assert.ok(Number(each.requests) > 0 && Number(each.probeP99Ms) > 0);
  }
  assert.ok(Number(figures[5]?.stages) > 0);
  assert.match(stderr, /of the throughput by hand/);
});
