import assert from "node:assert/strict";
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { open } from "lmdb";
import { openLmdbJournal } from "#src/journal/lmdb.js";
import { logKey, type Store } from "#src/journal/store.js";
import { headwater } from "../cli/headwater.js";
import { refused, refusedAtOnce } from "../refused.js";
import { allOf, IDENTITY, newDirectory, Other, openIn, textOf, write } from "./support.js";

const SYNCED = { durability: "synced" } as const;
const COUNT = 3000;

function textOfKey(i: number): string {
  return `the value of key <${i}>`;
}

/** A journal of a few thousand keys, all of them in the main table. */
async function journalIn(t: TestContext): Promise<string> {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory);
  await write(journal, Object.fromEntries(Array.from({ length: COUNT }, (_, i) => [`c/${i}`, textOfKey(i)])));
  await journal.close();
  return directory;
}

/** Flips a bit of a text wherever it is in a file: lmdb leaves old copies of a page behind. */
function flip(file: string, text: string): void {
  const bytes = readFileSync(file);
  const handle = openSync(file, "r+");
  let found = -1;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    found = at + 5;
    writeSync(handle, Buffer.from([bytes.readUInt8(found) ^ 4]), 0, 1, found);
  }
  closeSync(handle);
  assert.notEqual(found, -1, "there is something to flip");
}

/** Changes a record behind the journal's back. */
async function tamper(
  directory: string,
  table: keyof Omit<Store, "root">,
  change: (bytes: Buffer) => Buffer | undefined,
  key: Uint8Array | string,
): Promise<void> {
  const root = open<Buffer, string | Uint8Array>({ path: directory, overlappingSync: false });
  const keys = table === "meta" ? ({ useVersions: true } as const) : ({ keyEncoding: "binary" } as const);
  const store = root.openDB<Buffer, string | Uint8Array>(table, { encoding: "binary", ...keys });
  const entry = store.getEntry(key);
  assert.ok(entry, "there is something to change");
  const changed = change(entry.value);
  if (changed === undefined) await store.remove(key);
  else await store.put(key, changed, entry.version ?? 0);
  await root.close();
}

function withFlippedBit(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}

test("a flipped bit in a value is an error that names the key, and all other keys can be read", async (t) => {
  const directory = await journalIn(t);
  const file = join(directory, "data.mdb");
  flip(file, textOfKey(1234));
  const journal = await openIn(t, directory);
  refusedAtOnce(() => journal.get("c/1234"), "HW-3004", "c/1234", directory);
  refusedAtOnce(() => allOf(journal, "c/123"), "HW-3004", "c/1234");
  assert.equal(textOf(journal, "c/1235"), textOfKey(1235));
  await write(journal, { "c/1234": "repaired by being written again" });
  assert.equal(textOf(journal, "c/1234"), "repaired by being written again");
});

test("verify finds every flipped bit, and says nothing of a sound journal", async (t) => {
  const directory = await journalIn(t);
  const sound = await headwater("journal", "verify", directory);
  assert.deepEqual([sound.exitCode, sound.stdout], [0, ""]);
  assert.match(sound.stderr, /3000 keys and 0 commits in the log: all checksums are right/);
  const file = join(directory, "data.mdb");
  for (const i of [17, 1500, 2999]) flip(file, textOfKey(i));
  const found = await headwater("journal", "verify", directory);
  assert.equal(found.exitCode, 1);
  assert.deepEqual(
    found.stdout.split("\n").map((line) => line.split(":")[0]),
    ["c/1500", "c/17", "c/2999"],
  );
  assert.match(found.stderr, /HW-3004.*3 faults/);
  const json = (await headwater("journal", "verify", directory, "--json")).stdout.split("\n");
  assert.deepEqual(
    json.map((line) => JSON.parse(line)).map(({ kind, key, ok }) => key ?? [kind, ok]),
    ["c/1500", "c/17", "c/2999", ["verified", false]],
  );
  const exported = await headwater("journal", "export", directory);
  assert.equal(exported.exitCode, 1);
  assert.equal(exported.stdout.split("\n").length, COUNT - 3);
  assert.match(exported.stderr, /Left out: the value of "c\/17"/);
});

test("a value under the wrong key is noticed", async (t) => {
  const directory = await journalIn(t);
  let other: Buffer | undefined;
  await tamper(directory, "main", (bytes) => (other = Buffer.from(bytes)), Buffer.from("c/1"));
  await tamper(directory, "main", () => other, Buffer.from("c/2"));
  const journal = await openIn(t, directory);
  refusedAtOnce(() => journal.get("c/2"), "HW-3004", "c/2");
});

test("a damaged commit in the log is an error at opening that changes nothing and fences nobody", async (t) => {
  const directory = newDirectory(t);
  const other = new Other(t, "appender", [directory, "3"]);
  await other.hears((said): said is "waiting" => said === "waiting");
  other.kill();
  await other.ended;
  await tamper(directory, "log", withFlippedBit, logKey(2));
  const before = readFileSync(join(directory, "data.mdb"));
  await refused(openLmdbJournal(directory, IDENTITY, SYNCED), "HW-3004", directory, "commit 2");
  assert.ok(before.equals(readFileSync(join(directory, "data.mdb"))));
  const { exitCode, stdout } = await headwater("journal", "verify", directory);
  assert.equal(exitCode, 1);
  assert.equal(stdout, "commit 2 of the log has a wrong checksum");
});

test("a damaged or missing record of whose journal it is is an error at opening", async (t) => {
  for (const change of [withFlippedBit, () => undefined]) {
    const directory = await journalIn(t);
    await tamper(directory, "meta", change, "owner");
    const before = readFileSync(join(directory, "data.mdb"));
    await refused(openLmdbJournal(directory, IDENTITY, SYNCED), "HW-3004", directory);
    assert.ok(before.equals(readFileSync(join(directory, "data.mdb"))));
    assert.equal((await headwater("journal", "verify", directory)).exitCode, 1);
  }
});

test("a data file that is something else, or whose header is damaged, is refused", async (t) => {
  const directory = await journalIn(t);
  const file = join(directory, "data.mdb");
  const whole = readFileSync(file);
  const broken = [Buffer.from("not a data file"), Buffer.alloc(20_000, 7), whole.subarray(0, 5000)];
  for (const page of [0, 4096]) {
    const copy = Buffer.from(whole);
    copy[page + 24] = 1;
    broken.push(copy);
  }
  for (const bytes of broken) {
    writeFileSync(file, bytes);
    await refused(openLmdbJournal(directory, IDENTITY, SYNCED), "HW-3004", directory, "data.mdb");
    assert.ok(bytes.equals(readFileSync(file)));
    assert.equal((await headwater("journal", "verify", directory)).exitCode, 1);
  }
});

/** What `programs/reader.ts` says about each directory that it was told. */
interface Report {
  readonly number: number;
  readonly keys?: number;
  readonly code?: string;
}

/** In two halves, which are looked at side by side. */
const SHARES = [
  [0.999, 0.9, 0.7, 0.5, 0.3, 0.1],
  [0.95, 0.8, 0.6, 0.4, 0.2],
];

test("a data file that was cut off is refused as it is, unless nothing was in the part that is missing", async (t) => {
  const whole = await journalIn(t);
  const reader = new Other(t, "reader", []); // a page that is not there ends the process that reads it
  let refusals = 0;
  const cutAt = async (share: number) => {
    const directory = newDirectory(t);
    cpSync(whole, directory, { recursive: true });
    const file = join(directory, "data.mdb");
    truncateSync(file, Math.floor(statSync(file).size * share));
    const cut = readFileSync(file);
    reader.tell(JSON.stringify({ number: share, directory }));
    const { keys, code } = await reader.hears(
      (said): said is Report => (said as Report | null)?.number === share,
    );
    if (code === undefined) {
      assert.equal(keys, COUNT);
      return;
    }
    refusals += 1;
    assert.equal(code, "HW-3004");
    assert.ok(cut.equals(readFileSync(file)));
    for (const action of ["verify", refusals % 2 === 0 ? "info" : "export"]) {
      const { exitCode, stderr } = await headwater("journal", action, directory);
      assert.equal(exitCode, 1, `${action} of ${share}`);
      assert.match(stderr, /HW-3004/);
    }
  };
  await Promise.all(
    SHARES.map(async (shares) => {
      for (const share of shares) await cutAt(share);
    }),
  );
  assert.ok(refusals >= 5, `${refusals} were refused`);
});
