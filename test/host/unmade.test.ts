import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const program = fileURLToPath(new URL("./programs/names.ts", import.meta.url));

for (const hosts of [1, 2]) {
  test(`on ${hosts} hosts without a journal, names that were read or deleted take no memory for good; what was written or named again is right`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--expose-gc",
      "--import",
      "tsx",
      program,
      `${hosts}`,
    ]);
    const { bytesPerName, bytesPerDeleted, sums, listed } = JSON.parse(stdout) as {
      bytesPerName: number;
      bytesPerDeleted: number;
      sums: number[];
      listed: string[];
    };
    // A context in memory takes two kilobytes, on its host and in the head.
    assert.ok(bytesPerName < 200, `${bytesPerName} bytes are kept of each name`);
    assert.ok(bytesPerDeleted < 200, `${bytesPerDeleted} bytes are kept of each deleted context`);
    assert.deepEqual(sums, [300, 300, 0, 300]);
    assert.deepEqual(listed, ["100", "0", "100"]);
  });
}
