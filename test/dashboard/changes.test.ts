import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf } from "#src/dashboard/changes.js";
import { preview } from "#src/state/preview.js";
import fc from "../properties.js";

/** States as programs have them: fields with plain values, lists, maps and sets. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<unknown>(0, 1, "a", "b", true, null, undefined, 5n, Number.NaN),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }).map((items) => new Set(items)),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom("a", "b", 1), tie("value")), {
        maxLength: 3,
        selector: ([key]) => key,
      })
      .map((pairs) => new Map(pairs as [unknown, unknown][])),
    fc.dictionary(fc.constantFrom("x", "y"), tie("value"), { maxKeys: 2 }),
  ),
}));
const state = fc.dictionary(fc.constantFrom("p", "q", "r"), value, { maxKeys: 3 });

/** The value at a path, found in the program's own value; what leads nowhere is `missing`. */
const missing = Symbol("missing");
function at(whole: unknown, path: readonly string[]): unknown {
  let found = whole;
  for (const name of path) {
    if (found instanceof Map) {
      const entry = [...(found as Map<unknown, unknown>)].find(([key]) => String(key) === name);
      found = entry === undefined ? missing : entry[1];
    } else if (found instanceof Set) found = found.has(name) ? name : missing;
    else if (typeof found === "object" && found !== null && Object.hasOwn(found, name))
      found = (found as Record<string, unknown>)[name];
    else return missing;
  }
  return found;
}

test("what differs between two states is said where it differs, as it was and is, and nothing else is", () => {
  fc.assert(
    fc.property(state, state, (before, after) => {
      const [was, is] = [preview(before), preview(after)];
      const changes = changesOf(was, is);
      assert.deepEqual(changesOf(was, was), []);
      for (const change of changes) {
        for (const [whole, said] of [
          [before, change.before],
          [after, change.after],
        ] as const) {
          const found = at(whole, change.path);
          assert.deepEqual(said, found === missing ? undefined : preview(found), change.path.join("."));
        }
        assert.notDeepEqual(change.before, change.after);
      }
      // No difference is left out: the same paths, the other way round, and none if the states are equal.
      const back = changesOf(is, was);
      assert.deepEqual(
        new Set(back.map(({ path }) => path.join())),
        new Set(changes.map(({ path }) => path.join())),
      );
      assert.equal(changes.length === 0, JSON.stringify(sorted(was)) === JSON.stringify(sorted(is)));
    }),
    { numRuns: 300 },
  );
});

/** Without the order of names and of entries, which is no difference. */
function sorted(shown: unknown): unknown {
  if (Array.isArray(shown)) return shown.map(sorted);
  if (typeof shown !== "object" || shown === null) return shown;
  const entries = Object.entries(shown).map(([name, item]): [string, unknown] => {
    const items = sorted(item);
    return [
      name,
      (name === "$map" || name === "$set") && Array.isArray(items)
        ? items.map((each) => JSON.stringify(each)).sort()
        : items,
    ];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
