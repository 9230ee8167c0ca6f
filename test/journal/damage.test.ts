import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Random } from "#src/random.js";
import { headwater } from "../cli/headwater.js";
import { refused } from "../refused.js";
import { allOf, filesIn, fingerprint, newDirectory, Other, openIn, write } from "./support.js";

const SMALL = {
  carryOver: { keys: 60, idleMs: 1e9 },
  segments: { min: 8192, max: 16384 },
};

/** A journal with two tables and a log behind each, of a process that was closed or killed. */
async function journalIn(t: TestContext, isClosed: boolean): Promise<string> {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, SMALL);
  const tables = () => filesIn(directory).filter((name) => name.endsWith(".sum")).length;
  const value = (i: number) => `value ${i} `.repeat(1 + (i % 40));
  for (let i = 0; tables() < 2 || i < 150; i++) {
    await write(journal, {
      [`c/${i}`]: value(i),
      [`d/${i % 9}`]: value(i * 7),
      [`c/${i - 30}`]: i % 4 ? "changed" : null,
    });
  }
  for (let i = 0; i < 5; i++) await write(journal, { [`last/${i}`]: value(i) });
  if (isClosed) await journal.close();
  const copy = newDirectory(t); // of what a process leaves behind that is killed here
  cpSync(directory, copy, { recursive: true, filter: (name) => !name.includes("owner") });
  return copy;
}

interface Report {
  readonly number: number;
  readonly digests?: readonly string[];
  readonly warnings?: readonly string[];
  readonly code?: string;
  readonly message?: string;
}

/** What a process says of the journal in this directory; it would not survive what lmdb does not survive. */
async function readBy(reader: Other, number: number, directory: string): Promise<Report> {
  reader.tell(JSON.stringify({ number, directory }));
  return reader.hears((said): said is Report => (said as Report | null)?.number === number);
}

const FLIPS = 150;

for (const isClosed of [true, false]) {
  test(`a bit that flips in any file of a ${isClosed ? "closed" : "killed"} journal is harmless, repaired or refused by name`, async (t) => {
    const original = await journalIn(t, isClosed);
    const reader = new Other(t, "reader", []);
    const copies = newDirectory(t);
    const sound = join(copies, "sound");
    cpSync(original, sound, { recursive: true });
    const expected = (await readBy(reader, 0, sound)).digests;
    assert.equal(expected?.[0], expected?.[1]);
    const random = new Random(isClosed ? 1 : 2);
    const seen = { right: 0, rebuilt: 0, refused: 0 };
    for (let number = 1; number <= FLIPS; number++) {
      const directory = join(copies, String(number));
      cpSync(original, directory, { recursive: true });
      const name = random.pick(filesIn(directory));
      const file = join(directory, name);
      const bytes = readFileSync(file);
      if (bytes.length === 0) continue;
      const at = random.int(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(8));
      writeFileSync(file, bytes);
      const where = `${name}, byte ${at}`;
      const { digests, warnings = [], code, message = "" } = await readBy(reader, number, directory);
      if (code !== undefined) {
        assert.ok(code === "HW-3004" || code === "HW-3001", `${where}: ${message}`);
        assert.match(message, /journal\.json|log\/\d|table\/\d/, where);
        seen.refused += 1;
      } else {
        assert.deepEqual(digests, expected, where);
        if (warnings.length > 0) seen.rebuilt += 1;
        else seen.right += 1;
      }
      rmSync(directory, { recursive: true });
    }
    for (const [what, times] of Object.entries(seen))
      assert.ok(times > 5, `${what}: ${JSON.stringify(seen)}`);
  });
}

/** Turns a bit of a file around. */
function flipIn(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}

function tablesIn(directory: string): string[] {
  return filesIn(directory).filter((name) => name.endsWith(".mdb"));
}

test("a damaged table is made again from the older one and the log; if both are damaged, they are named", async (t) => {
  const directory = await journalIn(t, false);
  const sound = await openIn(t, directory, SMALL);
  const before = allOf(sound);
  await sound.close();
  const [older = "", newer = ""] = tablesIn(directory);
  flipIn(join(directory, newer), 20_000);
  const verified = await headwater("journal", "verify", directory);
  assert.equal(verified.exitCode, 1);
  assert.match(verified.stdout, new RegExp(`${newer} has a wrong checksum \\(bytes 0 to `));
  const warnings: string[] = [];
  const journal = await openIn(t, directory, { ...SMALL, onWarning: (text) => warnings.push(text) });
  assert.deepEqual(allOf(journal), before);
  assert.match(warnings.join(), /wrong checksum .* made again from the log/);
  await journal.close();
  truncateSync(join(directory, older), 8192);
  const files = fingerprint(directory);
  await refused(openIn(t, directory), "HW-3004", newer, older, "has 8192 bytes instead of");
  assert.deepEqual(fingerprint(directory), files, "a refused opening changes nothing");
});

test("verify is silent about a sound journal, and finds damage in a table that is not needed now", async (t) => {
  const directory = await journalIn(t, true);
  const sound = await headwater("journal", "verify", directory);
  assert.deepEqual([sound.exitCode, sound.stdout], [0, ""]);
  assert.match(sound.stderr, /\d+ keys and \d+ commits in the log: all checksums are right/);
  const [older = ""] = tablesIn(directory);
  flipIn(join(directory, older), 9000);
  const found = await headwater("journal", "verify", directory, "--json");
  assert.equal(found.exitCode, 1);
  const [damage, summary] = found.stdout.split("\n").map((line) => JSON.parse(line));
  assert.match(damage.what, /wrong checksum/);
  assert.deepEqual([summary.kind, summary.ok, summary.damages], ["verified", false, 1]);
});

test("a damaged group in the log is an error at opening that changes nothing and fences nobody", async (t) => {
  const directory = newDirectory(t);
  const other = new Other(t, "appender", [directory, "3"]);
  await other.hears((said): said is "waiting" => said === "waiting");
  const [segment = ""] = filesIn(directory).filter((name) => name.startsWith("log"));
  const file = join(directory, segment);
  const at = readFileSync(file).indexOf("value 1");
  flipIn(file, at);
  const before = fingerprint(directory);
  await refused(openIn(t, directory, { takeOver: true }), "HW-3004", directory, "group 2", segment);
  assert.deepEqual(fingerprint(directory), before);
  const { exitCode, stdout } = await headwater("journal", "verify", directory);
  assert.equal(exitCode, 1);
  assert.match(stdout, /^group 2 is lost \(log\/\d{8}-\d{8}\.log, byte \d+\)$/);
  other.tell("more");
  await other.hears((said): said is "written" => said === "written");
});
