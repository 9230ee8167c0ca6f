import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pack } from "msgpackr";
import { headwater, ROOT, runHere } from "../cli/headwater.js";
import { newDirectory, Other, openIn, outcome, write } from "./support.js";

async function journalIn(t: TestContext): Promise<string> {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  const values: Record<string, unknown> = {
    "c/Bank/1": { balance: 100, names: ["ada", "bob"] },
    "c/Bank/2": [1.5, null, true, -1 / 0, Number.NaN],
    "c/😀": new Map([["__proto__", 1n << 60n]]),
    "t/Bank/9": Buffer.from([1, 2, 3]),
  };
  const writes = Object.entries(values).map(([key, value]) => ({ key, value: pack(value) }));
  assert.equal(await outcome(journal, writes), null);
  await write(journal, { "x/not MessagePack": "\u00c1" });
  await journal.close();
  return directory;
}

test("info says whose journal it is and what is in it, by kind", async (t) => {
  const directory = await journalIn(t);
  const { exitCode, stdout, stderr } = await headwater("journal", "info", directory, "--json");
  assert.deepEqual([exitCode, stderr], [0, ""]);
  const { kinds, fileBytes, ...facts } = JSON.parse(stdout);
  const kindsFound: [string, { keys: number }][] = Object.entries(kinds);
  assert.deepEqual(facts, { program: "bank", format: 1, layout: 1, epoch: 1, logCommits: 0, logBytes: 0 });
  assert.equal(fileBytes, readFileSync(join(directory, "data.mdb")).length);
  assert.deepEqual(
    kindsFound.map(([kind, { keys }]) => [kind, keys]),
    [
      ["c", 3],
      ["t", 1],
      ["x", 1],
    ],
  );
  const plain = await headwater("journal", "info", directory);
  assert.match(plain.stdout, /^program +bank$/m);
  assert.match(plain.stdout, /^c\/ +3 keys, \d+ bytes$/m);
});

test("export writes each key with its newest value as a line of JSON, in order", async (t) => {
  const directory = await journalIn(t);
  const { exitCode, stdout } = await headwater("journal", "export", directory);
  assert.equal(exitCode, 0);
  assert.deepEqual(
    stdout.split("\n").map((line) => JSON.parse(line)),
    [
      { key: "c/Bank/1", value: { balance: 100, names: ["ada", "bob"] } },
      { key: "c/Bank/2", value: [1.5, null, true, { number: "-Infinity" }, { number: "NaN" }] },
      { key: "c/😀", value: JSON.parse('{"__proto__": {"bigint": "1152921504606846976"}}') },
      { key: "t/Bank/9", value: { base64: "AQID" } },
      { key: "x/not MessagePack", value: { base64: "w4E=" } },
    ],
  );
});

test("all three only read: no byte of the data changes, and the epoch stays", async (t) => {
  const directory = await journalIn(t);
  const before = readFileSync(join(directory, "data.mdb"));
  for (const action of ["info", "verify", "export"]) {
    assert.equal((await runHere(ROOT, "journal", action, directory)).exitCode, 0);
  }
  assert.ok(before.equals(readFileSync(join(directory, "data.mdb"))));
});

test("they work while a service writes, and it does not notice", async (t) => {
  const directory = newDirectory(t);
  const service = new Other(t, "transfers", [directory, "1"]);
  const lastSaid = () => Number(service.said.at(-1));
  await service.hears((said): said is number => typeof said === "number" && said > 100);
  for (let i = 0; i < 5; i++) {
    const before = lastSaid();
    const verified = await headwater("journal", "verify", directory);
    assert.equal(verified.exitCode, 0, verified.stdout);
    const { stdout } = await headwater("journal", "export", directory);
    const found = new Map(stdout.split("\n").map((line) => [JSON.parse(line).key, JSON.parse(line).value]));
    const done = [...found.keys()].filter((key) => key.startsWith("done/"));
    assert.ok(done.length > before, "what was acknowledged before is there");
    const { epoch } = JSON.parse((await headwater("journal", "info", directory, "--json")).stdout);
    assert.equal(epoch, 1);
    const after = lastSaid();
    await service.hears((said): said is number => typeof said === "number" && said > after);
  }
});

test("what is not a journal, or not one of the three, is refused", async (t) => {
  const none = await headwater("journal", "info", newDirectory(t));
  assert.equal(none.exitCode, 1);
  assert.match(none.stderr, /^error HW-3001/);
  const other = await headwater("journal", "verfiy", newDirectory(t));
  assert.equal(other.exitCode, 2);
  assert.match(other.stderr, /Did you mean "verify"\?/);
  assert.equal((await headwater("journal", "info")).exitCode, 2);
});
