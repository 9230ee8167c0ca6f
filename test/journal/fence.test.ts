import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, renameSync, utimesSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { Journal } from "#src/journal/journal.js";
import { refused } from "../refused.js";
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

test("of openings at the same time one gets the journal and the others are refused, after a close and after a takeover", async (t) => {
  const directory = newDirectory(t);
  for (let round = 0; round < 10; round++) {
    const openings = await Promise.allSettled(Array.from({ length: 6 }, () => openIn(t, directory)));
    const open = openings.flatMap((opening) => (opening.status === "fulfilled" ? [opening.value] : []));
    const codes = openings.flatMap((opening) => (opening.status === "rejected" ? [opening.reason.code] : []));
    assert.deepEqual([open.length, codes], [1, Array(5).fill("HW-3024")]);
    await write(open[0] as Journal, { [`round ${round}`]: "" });
    if (round % 2 === 0) await open[0]?.close();
    else {
      const next = await openIn(t, directory, { takeOver: true });
      await Promise.all([open[0]?.close(), next.close()]);
    }
  }
  assert.equal(Object.keys(allOf(await openIn(t, directory))).length, 10);
  assert.deepEqual(readdirSync(directory).sort(), ["journal.json", "log", "owner.pid", "owner.sock"]);
});

test("the lock of an owner that was killed does not stop the next opening", async (t) => {
  const directory = newDirectory(t);
  for (const key of ["a", "b", "c"]) {
    const owner = new Other(t, "told", [directory]);
    owner.tell(key);
    await owner.hears(about(key));
    await refused(openIn(t, directory), "HW-3024", directory);
    owner.kill();
    await owner.ended;
    assert.ok(existsSync(join(directory, "owner.sock")));
    const journal = await openIn(t, directory);
    assert.ok(journal.get(key));
    await journal.close();
    assert.deepEqual(readdirSync(directory).sort(), ["journal.json", "log"]);
  }
});

test("sockets that killed processes have left half way are cleared away, and those of living ones are not", async (t) => {
  const directory = newDirectory(t);
  await (await openIn(t, directory)).close();
  const names = ["dead", "young", "alive"].map(
    (name) => `owner-${Buffer.from(name.padEnd(8)).toString("hex")}.sock`,
  );
  for (const [i, name] of names.entries()) {
    const server = createServer().listen(join(directory, "x.sock"));
    await once(server, "listening");
    renameSync(join(directory, "x.sock"), join(directory, name)); // so that closing does not remove it
    if (i !== 1) utimesSync(join(directory, name), 0, 0);
    if (i !== 2) server.close();
    t.after(() => server.close());
  }
  await (await openIn(t, directory)).close();
  const left = readdirSync(directory).filter((name) => name.startsWith("owner"));
  assert.deepEqual(left.toSorted(), names.slice(1).toSorted());
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

test("a takeover from a stopped process waits for nothing, and the process can do nothing when it goes on", async (t) => {
  const directory = newDirectory(t);
  for (let round = 0; round < 5; round++) {
    const first = new Other(t, "writer", [directory]);
    await first.hears((said): said is number => typeof said === "number" && said > 200 + round * 17);
    first.signal("SIGSTOP");
    const journal = await openIn(t, directory, { takeOver: true });
    const told = first.said.filter((said) => typeof said === "number").at(-1) as number;
    const before = allOf(journal);
    assert.ok(Number(before.last) >= told, `${told} was acknowledged, and ${before.last} is there`);
    first.signal("SIGCONT");
    await first.hears((said): said is string => said === "HW-3005");
    first.kill();
    await first.ended;
    const late = first.said.filter((said) => typeof said === "number").at(-1) as number;
    assert.ok(late <= Number(before.last), `${late} was acknowledged after the takeover at ${before.last}`);
    await write(journal, { round: String(round) });
    await journal.close();
    const again = await openIn(t, directory);
    assert.deepEqual(allOf(again), { ...before, round: String(round) });
    await again.close();
  }
});
