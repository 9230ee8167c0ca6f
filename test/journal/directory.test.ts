import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { open } from "lmdb";
import { openJournal } from "#src/journal/open.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";
import {
  allOf,
  EAGER,
  filesIn,
  fingerprint,
  IDENTITY,
  newDirectory,
  openIn,
  untilCarriedOver,
  write,
} from "./support.js";

const SYNCED = { durability: "synced" } as const;

/** A journal with something in it, closed. */
async function journalIn(t: TestContext): Promise<string> {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  await write(journal, { a: "1", b: "2" });
  await journal.close();
  return directory;
}

/** Opening is refused with this code, and every file of the directory is as it was, byte for byte. */
async function refusedUnchanged(
  directory: string,
  identity: typeof IDENTITY,
  ...wanted: [code: Parameters<typeof refused>[1], ...names: string[]]
): Promise<void> {
  const before = fingerprint(directory);
  await refused(openJournal(directory, identity, SYNCED), wanted[0], directory, ...wanted.slice(1));
  assert.deepEqual(fingerprint(directory), before);
}

test("a directory with other things in it is not made a journal", async (t) => {
  const directory = newDirectory(t);
  mkdirSync(directory);
  writeFileSync(join(directory, "notes.txt"), "mine");
  await refusedUnchanged(directory, IDENTITY, "HW-3001", "notes.txt");
});

test("a file is not a journal", async (t) => {
  const file = newDirectory(t);
  writeFileSync(file, "mine");
  await refused(openJournal(file, IDENTITY, SYNCED), "HW-3001", file, "it is a file");
  assert.equal(readFileSync(file, "utf8"), "mine");
});

test("somebody else's lmdb database is not a journal", async (t) => {
  const directory = newDirectory(t);
  const theirs = open({ path: directory });
  await theirs.put("a", 1);
  await theirs.close();
  await refusedUnchanged(directory, IDENTITY, "HW-3001", "data.mdb");
});

test("a journal.json of another kind does not make a journal", async (t) => {
  const directory = newDirectory(t);
  mkdirSync(directory);
  writeFileSync(join(directory, "journal.json"), '{"entries": []}');
  await refusedUnchanged(directory, IDENTITY, "HW-3001", "another kind");
});

test("another program's journal is refused by name", async (t) => {
  const directory = await journalIn(t);
  await refusedUnchanged(directory, { ...IDENTITY, program: "shop" }, "HW-3002", '"bank"', '"shop"');
});

test("an older or a newer format is refused, and said to be so", async (t) => {
  const directory = await journalIn(t);
  await refusedUnchanged(directory, { ...IDENTITY, format: 2 }, "HW-3003", "older than 2");
  await refusedUnchanged(directory, { ...IDENTITY, format: 0 }, "HW-3003", "newer than 0");
  const card = join(directory, "journal.json");
  writeFileSync(card, readFileSync(card, "utf8").replace('"layout": 2', '"layout": 9'));
  await refusedUnchanged(directory, IDENTITY, "HW-3004", "journal.json");
  writeFileSync(
    card,
    '{"headwater": "journal", "layout": 9, "program": "bank", "format": 1, "complete": true}',
  );
  await refusedUnchanged(directory, IDENTITY, "HW-3003", "layout 9", "newer");
});

test("a damaged journal.json is refused", async (t) => {
  const directory = await journalIn(t);
  for (const text of ['{"headwater": "jour', '{"headwater": "journal", "layout": "x"}']) {
    writeFileSync(join(directory, "journal.json"), text);
    await refusedUnchanged(directory, IDENTITY, "HW-3004", "journal.json");
  }
});

test("a journal whose log is gone is refused, not begun anew", async (t) => {
  const directory = await journalIn(t);
  rmSync(join(directory, "log"), { recursive: true });
  await refusedUnchanged(directory, IDENTITY, "HW-3004", "its log is missing");
});

test("a journal without the table that its log goes on from is refused", async (t) => {
  const directory = newDirectory(t);
  const segments = { min: 8192, max: 8192 };
  const journal = await openIn(t, directory, { ...EAGER, segments });
  for (let i = 0; i < 3; i++) {
    await write(journal, { [`large${i}`]: "x".repeat(8000) });
    await untilCarriedOver(directory);
  }
  await until(() => !existsSync(join(directory, "log", "00000001-00000001.log"))); // the log is cut after a carry-over
  await journal.close();
  rmSync(join(directory, "table"), { recursive: true });
  await refusedUnchanged(directory, IDENTITY, "HW-3004", "groups 1 to");
});

test("files of another journal are noticed", async (t) => {
  for (const folder of ["log", "table"]) {
    const [directory, other] = [newDirectory(t), newDirectory(t)];
    for (const each of [directory, other]) {
      const journal = await openIn(t, each, EAGER);
      await write(journal, { a: "1", b: "2" });
      await untilCarriedOver(each);
      await journal.close();
    }
    for (const name of readdirSync(join(other, folder))) {
      writeFileSync(join(directory, folder, name), readFileSync(join(other, folder, name)));
    }
    if (folder === "log") await refusedUnchanged(directory, IDENTITY, "HW-3004", "of another journal");
    else
      assert.deepEqual(allOf(await openIn(t, directory)), { a: "1", b: "2" }, "the log still has everything");
  }
});

test("making a journal that was interrupted is finished by the next opening", async (t) => {
  const card = '{"headwater": "journal", "layout": 1, "program": "bank", "format": 1, "complete": false}';
  for (const left of [["journal.json.new"], ["journal.json"], ["journal.json", "journal.json.new"]]) {
    const directory = newDirectory(t);
    mkdirSync(directory);
    for (const name of left) writeFileSync(join(directory, name), card);
    const journal = await openIn(t, directory);
    await write(journal, { a: "1" });
    await journal.close();
    assert.deepEqual(readdirSync(directory).sort(), ["journal.json", "log"]);
    assert.deepEqual(allOf(await openIn(t, directory)), { a: "1" });
  }
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("only its owner can read a journal, whatever the umask; files of older versions are tightened", async (t) => {
  const directory = newDirectory(t);
  const mask = process.umask(0);
  t.after(() => process.umask(mask));
  const modes = () =>
    Object.fromEntries(filesIn(directory).map((name) => [name, modeOf(join(directory, name))]));
  const journal = await openIn(t, directory, EAGER);
  await write(journal, { a: "1" });
  await untilCarriedOver(directory);
  assert.ok(Object.keys(modes()).length >= 5);
  assert.deepEqual(new Set(Object.values(modes())), new Set(["600"]));
  assert.equal(modeOf(join(directory, "owner.sock")), "600");
  for (const each of ["", "log", "table"]) assert.equal(modeOf(join(directory, each)), "700");
  await journal.close();
  for (const name of filesIn(directory)) chmodSync(join(directory, name), 0o644);
  chmodSync(directory, 0o775);
  const warnings: string[] = [];
  const again = await openIn(t, directory, { onWarning: (text) => warnings.push(text) });
  assert.deepEqual(new Set(Object.values(modes())), new Set(["600"]));
  assert.match(warnings.join(), /others can replace files in .*chmod 700/);
  await again.close();
});

test("a directory that cannot be made is named in the error", async (t) => {
  const directory = newDirectory(t);
  writeFileSync(directory, "a file where a directory should be");
  const inside = join(directory, "journal");
  await refused(openJournal(inside, IDENTITY, SYNCED), "HW-3001", inside);
  assert.ok(!existsSync(inside) && existsSync(dirname(inside)));
});
