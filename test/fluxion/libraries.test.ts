import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { LIBRARIES } from "#src/fluxion/callees/libraries.js";

const require = createRequire(import.meta.url);

/** Those whose objects can be made without arguments that mean something. */
const INSTALLED = Object.keys(LIBRARIES).filter((name) => {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
});

/** What a path leads to; undefined behind a call, which would have to be made. */
function at(exported: unknown, path: string): unknown {
  if (path.includes("()")) return undefined;
  let found = exported;
  for (const key of path.split(".").filter((each) => each !== "")) {
    found = (found as Record<string, unknown> | undefined)?.[key];
  }
  return found;
}

describe("what is written down of libraries is in them", () => {
  assert.ok(INSTALLED.length > 15, INSTALLED.join());
  for (const name of INSTALLED) {
    test(name, () => {
      const exported = require(name) as Record<string, unknown>;
      const {
        pure = [],
        makes = [],
        changes = [],
        heavy = [],
        varies = [],
        later = [],
      } = LIBRARIES[name] ?? {};
      for (const path of [...pure, ...makes, ...changes]) {
        if (path.includes("()") || path.endsWith("*")) continue;
        const candidates = [at(exported, path), at(exported.default, path)];
        assert.ok(
          candidates.some((each) => typeof each === "function"),
          `${name}${path} is a function`,
        );
      }
      for (const path of [...heavy, ...varies, ...later])
        assert.ok(pure.includes(path) || makes.includes(path), path);
    });
  }
});
