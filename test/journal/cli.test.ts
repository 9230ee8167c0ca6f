import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pack } from "msgpackr";
import { encode } from "#src/state/codec.js";
import { checkpointValue } from "#src/state/owned-store.js";
import { versionFrom } from "#src/state/tracked-content.js";
import { headwater, MAIN, ROOT, runHere } from "../cli/headwater.js";
import {
  ACCOUNTS,
  acknowledged,
  EAGER,
  filesIn,
  fingerprint,
  newDirectory,
  Other,
  openIn,
  outcome,
  untilCarriedOver,
  write,
} from "./support.js";

async function journalIn(t: TestContext): Promise<string> {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, EAGER);
  const values: Record<string, Uint8Array> = {
    "c/Bank/1": encode({ balance: 100, names: ["ada", "bob"], $: { $set: 1 } }),
    "c/Bank/2": encode([1.5, null, true, -1 / 0, Number.NaN, -0, undefined]),
    "c/😀": encode(new Map<unknown, unknown>([["__proto__", 1n << 60n]])),
    "c/tracked": encode(versionFrom("set", [{ key: "ada", sequence: 1, value: undefined }])),
    "d/Graph\0engine\0k": checkpointValue(41, 3),
    "d/Graph\0engine\0pname": Buffer.from("abc"),
    "d/Graph\0engine\0r0000000000000042": encode("not to be read"),
    "d/Graph\0map\0sr1": encode([1, "tracked"]),
    "t/Bank/9": encode([Buffer.from([1, 2, 3]), new Date(0), new Set([1]), new RangeError("far")]),
    "x/empty": Buffer.alloc(0),
    "x/instance": pack([null, 10, "Point", null, "x", 1.5]),
    "x/not MessagePack": Buffer.from([0xc1]),
    "x/too deep": Buffer.concat([Buffer.alloc(50_000, 0x91), Buffer.from([0])]),
  };
  const writes = Object.entries(values).map(([key, value]) => ({ key, value }));
  assert.equal(await outcome(journal, writes), null);
  await untilCarriedOver(directory);
  await journal.close();
  return directory;
}

/** The file of its table. */
function tableOf(directory: string): string {
  return join(directory, filesIn(directory).find((name) => name.endsWith(".mdb")) ?? "");
}

test("info says whose journal it is and what is in it, by kind", async (t) => {
  const directory = await journalIn(t);
  const { exitCode, stdout, stderr } = await headwater("journal", "info", directory, "--json");
  assert.deepEqual([exitCode, stderr], [0, ""]);
  const { kinds, fileBytes, owned, ...facts } = JSON.parse(stdout);
  assert.deepEqual(owned, { engines: 1, records: 1, recordBytes: 15, parts: 2, partBytes: 19 });
  const kindsFound: [string, { keys: number }][] = Object.entries(kinds);
  assert.deepEqual(facts, { program: "bank", format: 1, layout: 2, epoch: 1, logCommits: 0, logBytes: 0 });
  assert.equal(fileBytes, readFileSync(tableOf(directory)).length);
  assert.deepEqual(
    kindsFound.map(([kind, { keys }]) => [kind, keys]),
    [
      ["c", 4],
      ["d", 4],
      ["t", 1],
      ["x", 4],
    ],
  );
  const plain = await headwater("journal", "info", directory);
  assert.match(plain.stdout, /^program +bank$/m);
  assert.match(plain.stdout, /^c\/ +4 keys, \d+ bytes$/m);
  assert.match(plain.stdout, /^owned +1 engines: 1 records, 15 bytes; 2 parts/m);
});

test("export writes each key with its newest value as a line of JSON, in order", async (t) => {
  const directory = await journalIn(t);
  const { exitCode, stdout } = await headwater("journal", "export", directory);
  assert.equal(exitCode, 0);
  const lines = stdout.split("\n").map((line): { key: string; value: unknown } => JSON.parse(line));
  const tooDeep = lines.pop();
  assert.deepEqual(lines, [
    { key: "c/Bank/1", value: { balance: 100, names: ["ada", "bob"], $: { $plain: { $set: 1 } } } },
    {
      key: "c/Bank/2",
      value: [
        1.5,
        null,
        true,
        { $number: "-Infinity" },
        { $number: "NaN" },
        { $number: "-0" },
        { $undefined: true },
      ],
    },
    { key: "c/tracked", value: { $set: ["ada"] } },
    { key: "c/😀", value: { $map: [["__proto__", { $bigint: "1152921504606846976" }]] } },
    { key: "d/Graph\0engine\0k", value: { $checkpoint: { position: 41, bytes: 3 } } },
    { key: "d/Graph\0engine\0pname", value: { $part: { name: "name", bytes: "YWJj" } } },
    {
      key: "d/Graph\0engine\0r0000000000000042",
      value: { $record: { position: 42, bytes: Buffer.from(encode("not to be read")).toString("base64") } },
    },
    { key: "d/Graph\0map\0sr1", value: [1, "tracked"] },
    {
      key: "t/Bank/9",
      value: [
        { $bytes: "AQID" },
        { $date: "1970-01-01T00:00:00.000Z" },
        { $set: [1] },
        { $error: { name: "RangeError", message: "far", fields: {} } },
      ],
    },
    { key: "x/empty", value: { $bytes: "" } },
    {
      key: "x/instance",
      value: { $packed: [null, 10, "Point", null, "x", 1.5] },
    },
    { key: "x/not MessagePack", value: { $bytes: "wQ==" } },
  ]);
  assert.equal(tooDeep?.key, "x/too deep");
});

test("all three only read: no byte of the data changes, and the epoch stays", async (t) => {
  const directory = await journalIn(t);
  const before = fingerprint(directory);
  for (const action of ["info", "verify", "export"]) {
    assert.equal((await runHere(ROOT, "journal", action, directory)).exitCode, 0);
  }
  const after = fingerprint(directory);
  const isLock = (name: string) => name.endsWith("-lock");
  for (const name of Object.keys(after)) if (!isLock(name)) assert.equal(after[name], before[name], name);
});

test("they work while a service writes, see it at one moment, and it does not notice", async (t) => {
  const directory = newDirectory(t);
  const kept = 1000; // what there is to read must not grow as long as somebody reads
  const service = new Other(t, "transfers", ["1", String(kept), `synced:${directory}`]);
  service.tell("begin");
  const lastSaid = () => service.said.filter(acknowledged("synced", 0)).at(-1)?.[1] ?? -1;
  await service.hears(acknowledged("synced", 2 * kept));
  for (let i = 0; i < 5; i++) {
    const verified = await headwater("journal", "verify", directory);
    assert.equal(verified.exitCode, 0, `${verified.stdout}\n${verified.stderr}`);
    const before = lastSaid();
    const found = new Map<string, number>();
    for (const line of (await headwater("journal", "export", directory)).stdout.split("\n")) {
      const { key, value } = JSON.parse(line);
      found.set(key, value);
    }
    const last = found.get("last") ?? -1;
    assert.ok(last >= before, "what was acknowledged before is there");
    const done = [...found.keys()].filter((key) => key.startsWith("done/")).map((key) => found.get(key));
    assert.deepEqual(
      done,
      Array.from({ length: kept }, (_, k) => last - kept + 1 + k),
    );
    const amounts = Array.from({ length: ACCOUNTS }, (_, k) => found.get(`account/${k}`) ?? 0);
    assert.equal(
      amounts.reduce((sum, amount) => sum + amount, 0),
      0,
      "no group is seen in part",
    );
    const { epoch } = JSON.parse((await headwater("journal", "info", directory, "--json")).stdout);
    assert.equal(epoch, 1);
    await service.hears(acknowledged("synced", lastSaid() + 1));
  }
  service.kill();
  await service.ended;
});

/** Runs a shell line in a namespace of its own, where it may mount things. */
function unshared(line: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", 'unshare -Urm sh -c "$0"', line], {
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

test("a journal on a read-only mount can be verified, and damage is found there, too", async (t) => {
  const directory = newDirectory(t);
  const journal = await openIn(t, directory, EAGER);
  await write(journal, { a: "1", b: "2" });
  await untilCarriedOver(directory);
  await journal.close();
  const mount = `mount --bind '${directory}' '${directory}' && mount -o remount,bind,ro '${directory}'`;
  const look = (what: string) => {
    const line = `'${process.execPath}' '${MAIN}' journal ${what} '${directory}'`;
    return unshared(`${mount} && ! touch '${directory}/x' 2>/dev/null && ${line}`);
  };
  if (unshared(mount).status !== 0) return t.diagnostic("this system does not allow mounts");
  const verified = look("verify");
  assert.equal(verified.status, 0, verified.output);
  assert.match(verified.output, /all checksums are right/);
  assert.equal(look("export").status, 0);
  truncateSync(tableOf(directory), 8192);
  const damaged = look("verify");
  assert.equal(damaged.status, 1);
  assert.match(damaged.output, /HW-3004/);
});

test("what is not a journal, or not one of the three, is refused", async (t) => {
  const none = await headwater("journal", "info", newDirectory(t));
  assert.equal(none.exitCode, 2);
  assert.match(none.stderr, /^error HW-2004/);
  const other = await headwater("journal", "verfiy", newDirectory(t));
  assert.equal(other.exitCode, 2);
  assert.match(other.stderr, /Did you mean "verify"\?/);
  assert.equal((await headwater("journal", "info")).exitCode, 2);
});
