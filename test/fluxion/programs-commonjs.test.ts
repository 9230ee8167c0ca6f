import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { runBothWays } from "./corpus.js";
import { expected } from "./programs/expected.js";

const folder = new URL("./programs/", import.meta.url);

test("every program has something that is expected of it", () => {
  const files = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile());
  const programs = files.map(({ name }) => name).filter((name) => name !== "expected.ts");
  const besides = ["bin/www"]; // the file that npm starts is one in a folder of its own
  assert.deepEqual([...programs, ...besides].toSorted(), Object.keys(expected).toSorted());
});

runBothWays((name) => name.endsWith(".cjs"));
