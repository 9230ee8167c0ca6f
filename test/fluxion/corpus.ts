import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compiled, plain } from "./both-ways.js";
import { expected } from "./programs/expected.js";

const folder = new URL("./programs/", import.meta.url);

/** Runs the programs of the corpus whose names end like this both ways. */
export function runBothWays(isMeant: (name: string) => boolean): void {
  const programs = Object.entries(expected).filter(([name]) => isMeant(name));
  describe("programs run as before when their stages run in workers", { concurrency: 3 }, () => {
    for (const [name, { requests = [], alone, args, isolates = [], refuses = {} }] of programs) {
      test(name, async () => {
        const asked = { file: fileURLToPath(new URL(name, folder)), requests, alone, args };
        const [before, after] = await Promise.all([plain(asked), compiled(asked)]);
        const { stages, ...seen } = after;
        assert.deepEqual(seen, before);
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
}
