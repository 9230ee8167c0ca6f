import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { decode } from "#src/state/codec.js";
import { headwater } from "../cli/headwater.js";
import {
  ACCOUNTS,
  acknowledged,
  allOf,
  filesIn,
  fingerprint,
  newDirectory,
  Other,
  openIn,
  write,
} from "./support.js";

test("a backup of a running service is of one moment, has all that was acknowledged, and can be opened", async (t) => {
  const directory = newDirectory(t);
  const service = new Other(t, "transfers", ["1", "1000", `synced:${directory}`]);
  service.tell("begin");
  for (let i = 1; i <= 4; i++) {
    const [, before] = await service.hears(acknowledged("synced", i * 500));
    const copy = newDirectory(t);
    const { exitCode, stderr } = await headwater("journal", "backup", directory, "--to", copy);
    assert.equal(exitCode, 0, stderr);
    const verified = await headwater("journal", "verify", copy);
    assert.equal(verified.exitCode, 0, verified.stdout);
    const journal = await openIn(t, copy);
    const read = (key: string) => Number(decode(journal.get(key) ?? Buffer.from([0])));
    assert.ok(read("last") >= before, `${before} was acknowledged before`);
    const amounts = Array.from({ length: ACCOUNTS }, (_, k) => read(`account/${k}`));
    assert.equal(
      amounts.reduce((sum, amount) => sum + amount, 0),
      0,
    );
    await write(journal, { more: "1" });
    await journal.close();
  }
  const [, last] = service.said.findLast(acknowledged("synced", 0)) as [string, number];
  await service.hears(acknowledged("synced", last + 1));
  service.kill();
  await service.ended;
});

test("a backup goes to a directory that is not there, and what is damaged is not copied as if it were sound", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  for (const key of ["a", "b", "c"]) await write(journal, { [key]: `value of ${key}` });
  await journal.close();
  const there = await headwater("journal", "backup", directory, "--to", directory);
  assert.equal(there.exitCode, 2);
  assert.match(there.stderr, /HW-3001.*it is there already/);
  damage(directory, "value of b");
  const copy = newDirectory(t);
  const damaged = await headwater("journal", "backup", directory, "--to", copy);
  assert.equal(damaged.exitCode, 1);
  assert.match(damaged.stderr, /HW-3004.*group 2 is lost/);
  assert.equal(existsSync(copy), false);
  assert.equal((await headwater("journal", "backup", directory)).exitCode, 2);
});

/** Flips a bit of a text, which is in the log. */
function damage(directory: string, text: string): void {
  for (const name of filesIn(directory).filter((each) => each.startsWith("log"))) {
    const bytes = readFileSync(join(directory, name));
    const at = bytes.indexOf(text);
    if (at < 0) continue;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(join(directory, name), bytes);
  }
}

test("repair gives the journal before the first group that is lost, says so, and keeps the damaged one", async (t) => {
  const directory = newDirectory(t);
  for (let opening = 0; opening < 3; opening++) {
    const journal = await openIn(t, directory);
    for (let i = 0; i < 4; i++)
      await write(journal, { [`k${opening * 4 + i}`]: `value <${opening * 4 + i}>` });
    await journal.close();
  }
  assert.match((await headwater("journal", "repair", directory)).stderr, /nothing to repair/);
  damage(directory, "value <6>");
  const broken = fingerprint(directory);
  const { exitCode, stdout, stderr } = await headwater("journal", "repair", directory);
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /^group 7 is lost \(log\/\d{8}-\d{8}\.sealed, byte \d+\)$/);
  assert.match(stderr, /as it was after group 6.*journal\.damaged/s);
  const kept = fingerprint(`${directory}.damaged`);
  for (const name of Object.keys(broken)) assert.equal(kept[name], broken[name], name);
  const journal = await openIn(t, directory);
  assert.deepEqual(Object.keys(allOf(journal)), ["k0", "k1", "k2", "k3", "k4", "k5"]);
  await write(journal, { k6: "again" });
  await journal.close();
  assert.equal((await headwater("journal", "verify", directory)).exitCode, 0);
});

test("a journal that a process has open is not repaired", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  await write(journal, { a: "1" });
  const { exitCode, stderr } = await headwater("journal", "repair", directory);
  assert.equal(exitCode, 1);
  assert.match(stderr, /HW-3024/);
});
