import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { plain, writtenOut } from "./both-ways.js";
import { type Expected, expected } from "./programs/expected.js";

const folder = new URL("./programs/", import.meta.url);

/** One for each kind of stage, of module, of file beside it, and of end; and some where nothing goes. */
const SAMPLE = new Set([
  ..."whole-handler.cjs whole-handler-esm.mjs whole-handler-typed.ts middleware.cjs next-with-error.cjs".split(
    " ",
  ),
  ..."helper-file.cjs helper-module.mjs constant-table.ts local-class.ts templates.cjs picture.mjs".split(
    " ",
  ),
  ..."awaited-call.mjs posted-call.cjs posted-call-throws.cjs bcrypt.mjs console-order.cjs".split(" "),
  ..."throws-express4.cjs throws-express5.cjs ends-by-itself.cjs ends-uncaught.cjs top-level-await.mjs".split(
    " ",
  ),
  ..."module-cache.mjs parallel-callbacks.cjs state-through-method.ts next-given-twice.cjs".split(" "),
  ..."computed-require.cjs folder-main.cjs bin/www text-changed.cjs".split(" "),
]);

function isTaken([name, { bound }]: [string, Expected]): boolean {
  return SAMPLE.has(name) || bound === true;
}

describe("programs that compile has written to a folder run as before", { concurrency: 3 }, () => {
  const taken = Object.entries(expected).filter(isTaken);
  assert.deepEqual(
    [...SAMPLE].filter((name) => !(name in expected)),
    [],
  );
  for (const [name, { requests = [], alone, args, bound }] of taken) {
    test(name, async () => {
      const asked = { file: fileURLToPath(new URL(name, folder)), requests, alone, args };
      const [before, after] = await Promise.all([plain(asked), writtenOut(asked)]);
      if (bound === true) assert.notDeepEqual(after, before, "then it need not be an exception");
      else assert.deepEqual(after, before);
    });
  }
});
