import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { QUERIES } from "../../bench/nexmark/queries.js";

const root = new URL("../../", import.meta.url);

test("nexmark measures every query beside the loop by hand, and both give as many results", async () => {
  const args = ["--import", "tsx", "bench/main.ts", "nexmark", "--quick", "--json", "--events", "20000"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const figures = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    figures.map(({ query }) => query),
    Object.keys(QUERIES),
  );
  for (const each of figures) {
    assert.equal(each.events, 20_000);
    assert.ok(Number(each.eventsPerSecond) > 0 && Number(each.ratio) > 0 && Number(each.results) > 0);
  }
});
