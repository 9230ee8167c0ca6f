import assert from "node:assert/strict";
import { test } from "node:test";
import { allOf, newDirectory, Other, openIn, write } from "./support.js";

/** What `programs/told.ts` says about each group that it was told to append. */
interface Report {
  readonly key: string;
  readonly code: string | null;
}

function about(key: string) {
  return (said: unknown): said is Report =>
    typeof said === "object" && said !== null && "key" in said && said.key === key;
}

test("a process whose journal another one has opened can write nothing more", async (t) => {
  const directory = newDirectory(t);
  const first = new Other(t, "told", [directory]);
  first.tell("a");
  assert.equal((await first.hears(about("a"))).code, null);

  const second = new Other(t, "told", [directory]);
  second.tell("b");
  assert.equal((await second.hears(about("b"))).code, null);

  for (const key of ["c", "d"]) {
    first.tell(key);
    assert.equal((await first.hears(about(key))).code, "HW-3005");
  }
  second.tell("e");
  assert.equal((await second.hears(about("e"))).code, null);

  const third = await openIn(t, directory, { takeOver: true });
  await write(third, { f: "third" });
  second.tell("g");
  assert.equal((await second.hears(about("g"))).code, "HW-3005");
  first.tell("h");
  assert.equal((await first.hears(about("h"))).code, "HW-3005");
  const pids = allOf(third);
  assert.deepEqual(Object.keys(pids), ["a", "b", "e", "f"]);
  assert.notEqual(pids.a, pids.b);
  assert.equal(pids.b, pids.e);
});

test("what a fenced process has in memory never reaches the file, not even when it closes", async (t) => {
  const directory = newDirectory(t);
  const first = new Other(t, "told", [directory]);
  first.tell("a");
  await first.hears(about("a"));
  const second = await openIn(t, directory, { takeOver: true });
  await write(second, { a: "newer" });
  first.tell("close");
  assert.deepEqual(await first.ended, { code: 0, signal: null });
  assert.deepEqual(allOf(second), { a: "newer" });
  await second.close();
  assert.deepEqual(allOf(await openIn(t, directory)), { a: "newer" });
});
