import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const program = fileURLToPath(new URL("./programs/names.ts", import.meta.url));

test("names that are read and that nobody has written take no memory for good; what was written, deleted or named again is right", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--import", "tsx", program]);
  const { bytesPerName, sums, listed } = JSON.parse(stdout) as {
    bytesPerName: number;
    sums: number[];
    listed: string[];
  };
  // A context in memory takes two kilobytes.
  assert.ok(bytesPerName < 200, `${bytesPerName} bytes are kept of each name`);
  assert.deepEqual(sums, [300, 300, 0, 300]);
  assert.deepEqual(listed, ["100", "0", "100"]);
});
