import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compiled, plain, writtenOut } from "./both-ways.js";
import { expected } from "./programs/expected.js";

const folder = new URL("./programs/", import.meta.url);

test("every program has something that is expected of it", () => {
  const files = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile());
  const programs = files.map(({ name }) => name).filter((name) => name !== "expected.ts");
  assert.deepEqual(programs.toSorted(), Object.keys(expected).toSorted());
});

const WRITTEN_AS_WELL = new Set(["module-cache.mjs", "parallel-callbacks.cjs", "state-through-method.ts"]);

describe("programs run as before when their stages run in workers, compiled in memory or to a folder", {
  concurrency: 3,
}, () => {
  for (const [name, { requests = [], alone, args, isolates = [], refuses = {}, bound }] of Object.entries(
    expected,
  )) {
    test(name, async () => {
      const asked = { file: fileURLToPath(new URL(name, folder)), requests, alone, args };
      // Where nothing goes, a folder has the program as it is, but for some that show that.
      const isWritten = isolates.length > 0 || bound === true || WRITTEN_AS_WELL.has(name);
      const [before, after, fromFolder] = await Promise.all([
        plain(asked),
        compiled(asked),
        isWritten ? writtenOut(asked) : null,
      ]);
      const { stages, ...seen } = after;
      assert.deepEqual(seen, before);
      if (bound === true) assert.notDeepEqual(fromFolder, before, "then it need not be left out");
      else if (fromFolder !== null) assert.deepEqual(fromFolder, before, "compile --out");
      const moved = stages
        .filter(({ inWorkers, refused }) => inWorkers + refused > 0)
        .map((each) => each.name);
      assert.deepEqual(
        isolates.filter((each) => !moved.includes(each)),
        [],
        `these ran in workers: ${moved.join(", ")}`,
      );
      assert.deepEqual(
        moved.filter((each) => each in refuses),
        [],
      );
    });
  }
});
