import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "lmdb";
import { withSurvey } from "#src/journal/survey.js";
import { Random } from "#src/random.js";
import { refused } from "../refused.js";
import { until } from "../waits.js";
import { makeOneFile } from "./one-file.js";
import { allOf, fingerprint, newDirectory, Other, openIn, write } from "./support.js";

const KEYS = 2000;
const main = Object.fromEntries(Array.from({ length: KEYS }, (_, i) => [`c/${i}`, `value ${i}`]));
const commits = [
  { "c/17": "changed", "c/18": null, "new/1": "1" },
  { "c/17": "changed again", "new/2": "x".repeat(20_000), "😀": "" },
];
const { "c/18": _, ...rest } = main;
const expected = { ...rest, "c/17": "changed again", "new/1": "1", "new/2": "x".repeat(20_000), "😀": "" };

test("a journal of an older version is converted when it is opened, and goes on", async (t) => {
  const directory = newDirectory(t);
  await makeOneFile(directory, main, commits);
  const warnings: string[] = [];
  const journal = await openIn(t, directory, { onWarning: (text) => warnings.push(text) });
  assert.match(warnings.join(), /is converted/);
  assert.deepEqual(allOf(journal), expected);
  await write(journal, { more: "1" });
  await journal.close();
  assert.deepEqual(readdirSync(directory).sort(), ["journal.json", "log", "table"]);
  assert.deepEqual(allOf(await openIn(t, directory)), { ...expected, more: "1" });
  const { epoch } = await withSurvey(directory, async (survey) => survey);
  assert.equal(epoch, 8, "openings are counted on");
});

/** Moments of a conversion, by what is to be seen of them. */
const moments: Record<string, (directory: string) => boolean> = {
  "it has begun": (directory) => existsSync(join(directory, "table")),
  "the table is being written": (directory) => namesOf(directory).some((name) => name.endsWith(".new")),
  "the table is written": (directory) => namesOf(directory).some((name) => name.endsWith(".mdb")),
  "the checksums are written": (directory) => namesOf(directory).some((name) => name.endsWith(".sum")),
  "the log is there": (directory) => existsSync(join(directory, "log")),
  "it is done": (directory) => readFileSync(join(directory, "journal.json"), "utf8").includes('"layout": 2'),
  "the old file is gone": (directory) => !existsSync(join(directory, "data.mdb")),
};

function namesOf(directory: string): string[] {
  return existsSync(join(directory, "table")) ? readdirSync(join(directory, "table")) : [];
}

test("a conversion that is killed at any moment loses nothing", async (t) => {
  const original = newDirectory(t);
  await makeOneFile(original, main, commits);
  for (const [moment, hasCome] of Object.entries(moments)) {
    const directory = newDirectory(t);
    cpSync(original, directory, { recursive: true });
    const other = new Other(t, "appender", [directory, "0"]);
    await until(() => hasCome(directory));
    other.kill();
    await other.ended;
    const journal = await openIn(t, directory);
    assert.deepEqual(allOf(journal), expected, moment);
    await journal.close();
    assert.equal(existsSync(join(directory, "data.mdb")), false);
  }
});

test("a damaged journal of an older version is refused, never converted to something else", async (t) => {
  const original = newDirectory(t);
  await makeOneFile(original, main, commits);
  const random = new Random(3);
  const seen = { right: 0, refused: 0 };
  for (let i = 0; i < 12; i++) {
    const directory = newDirectory(t);
    cpSync(original, directory, { recursive: true });
    const file = join(directory, "data.mdb");
    const bytes = readFileSync(file);
    const at = random.int(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(8));
    writeFileSync(file, bytes);
    const opening = openIn(t, directory);
    const journal = await opening.catch(() => null);
    if (journal === null) {
      await refused(opening, "HW-3004", directory);
      seen.refused += 1;
    } else {
      assert.deepEqual(allOf(journal), expected, `byte ${at}`);
      await journal.close();
      seen.right += 1;
    }
  }
  assert.ok(seen.refused > 1, JSON.stringify(seen));
});

test("a process of the older version that still has the file open can commit nothing more", async (t) => {
  const directory = newDirectory(t);
  await makeOneFile(directory, { a: "1" }, []);
  const root = open<Buffer, Uint8Array>({ path: directory, noSubdir: false, maxDbs: 3, encoding: "binary" });
  const meta = root.openDB<Buffer, string>("meta", { encoding: "binary", useVersions: true });
  const journal = await openIn(t, directory, { takeOver: true });
  let isThrough = false;
  const commit = meta.ifVersion("owner", 5, () => {
    isThrough = true;
  });
  assert.equal(await commit, false, String(isThrough));
  await root.close();
  assert.deepEqual(allOf(journal), { a: "1" });
});

test("a lock that another process does not let go is an error with its number, not a wait without end", async (t) => {
  const directory = newDirectory(t);
  await makeOneFile(directory, { a: "1" }, []);
  const holder = new Other(t, "holder", [directory]);
  const pid = await holder.hears((said): said is number => typeof said === "number");
  writeFileSync(join(directory, "owner.pid"), `${pid}\n`);
  const before = fingerprint(directory);
  await refused(openIn(t, directory, { lockMs: 500 }), "HW-3027", String(pid), directory);
  assert.equal(fingerprint(directory)["journal.json"], before["journal.json"]);
});
