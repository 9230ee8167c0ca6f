import assert from "node:assert/strict";
import { test } from "node:test";
import { tryStreams } from "#src/streams/trial/index.js";

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1);

test("with the coordination that is decided on, no two runs of a random graph differ; without it, nearly all that need it do", async () => {
  const { difference, queries, worse, shown, unshown, joint } = await tryStreams({ seeds: SEEDS });
  assert.equal(difference, null);
  assert.ok(queries > SEEDS.length && worse > 10 && joint > 0, `${queries} ${worse} ${joint}`);
  assert.ok(shown > 0.85 * worse, `${shown} of ${worse}`);
  // What is left groups the answers of a query by their own key, which the analysis does not know.
  assert.deepEqual(
    unshown.filter((each) => !/ FROM q\d/.test(each)),
    [],
  );
});

test("a plan that leaves out the coordination is found, with its seed and few rows", async () => {
  const plant = "nothing needs coordination";
  const { difference } = await tryStreams({ seeds: SEEDS, plant });
  assert.ok(difference !== null);
  const [one, other] = difference.rows;
  assert.ok(one.length <= 6, `${one.length} rows are left`);
  assert.notEqual(difference.given[0], difference.given[1]);
  assert.deepEqual(new Set(one), new Set(other));
  const again = await tryStreams({ seeds: [difference.seed], plant });
  assert.deepEqual(again.difference, difference);
});
