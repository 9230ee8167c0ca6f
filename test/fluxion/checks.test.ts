import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { StageStatistics } from "#src/fluxion/runtime/stages.js";
import { compiled, plain } from "./both-ways.js";

const folder = join(import.meta.dirname, "checks");

interface Checks {
  readonly passes: number;
  readonly fails?: readonly string[];
  /** Stages of the package itself, and how many of their calls must have run in workers. */
  readonly inWorkers?: Readonly<Record<string, number>>;
}

/** Packages that bring their own checks along (docs/fluxions-packages.md). */
const packages: Readonly<Record<string, Checks>> = {
  // With body-parser 2, `req.body` is undefined where this check expects an empty object; compiled or not.
  "body-parser-xml": { passes: 12, fails: ["XML Body Parser should ignore non-XML"] },
  "express-less": { passes: 6, inWorkers: { "less.render": 3 } },
  "express-pug-static": { passes: 18 },
  "hmac-express": { passes: 7 },
  "mustache-express": { passes: 22 },
  "serve-markdown": { passes: 5 },
};

function inWorkers(stages: readonly StageStatistics[], name: string): Record<string, number> {
  const own = stages.filter(({ file }) =>
    /^(?!.*\btest\b)/.test(file.split(join("node_modules", name))[1] ?? "test"),
  );
  return Object.fromEntries(own.map((each) => [each.name, each.inWorkers]));
}

describe("published packages pass their own checks when they are compiled", { concurrency: 2 }, () => {
  for (const [name, { passes, fails = [], inWorkers: moved = {} }] of Object.entries(packages)) {
    test(name, async () => {
      const asked = { file: join(folder, `${name}.cjs`), requests: [], packages: name };
      const [before, { stages, ...after }] = await Promise.all([plain(asked), compiled(asked)]);
      assert.deepEqual(after, before);
      const lines = after.stdout.trimEnd().split("\n");
      assert.equal(lines.filter((line) => line.startsWith("passes: ")).length, passes, after.stdout);
      assert.deepEqual(
        lines.filter((line) => !line.startsWith("passes: ")),
        fails.map((title) => `fails: ${title}`),
      );
      assert.equal(after.exitCode, fails.length);
      assert.deepEqual(inWorkers(stages, name), moved);
    });
  }
});
