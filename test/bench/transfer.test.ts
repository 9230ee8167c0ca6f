import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { nextTransfer, Zipf } from "../../bench/lib/zipf.js";

const root = new URL("../../", import.meta.url);
const CASES = ["headwater-transfer", "headwater-transfer-durable"];
const EVENTS = 300;

/** A directory that other users can enter too, as the one of the system: PostgreSQL does not run as root. */
async function directoryFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-test-"));
  t.after(() => rm(directory, { recursive: true }));
  await chmod(directory, 0o755);
  return directory;
}

/** Runs the bench; it fails by itself if money was made, or if a transfer is missing or took place twice. */
async function transfer(TMPDIR: string, ...options: string[]) {
  const args = ["--import", "tsx", "bench/main.ts", "transfer", "--quick", "--json", "--events", `${EVENTS}`];
  const env = { ...process.env, TMPDIR };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, ...options], {
    cwd: root,
    env,
  });
  const figures = stdout.trimEnd().split("\n");
  return { figures: figures.map((line) => JSON.parse(line) as Record<string, unknown>), stderr };
}

function checkFigures(figures: readonly Record<string, unknown>[], cases: readonly string[]): void {
  assert.deepEqual(
    figures.map((each) => `${each.case} ${each.inFlight}`),
    [256, 1024].flatMap((inFlight) => cases.map((name) => `${name} ${inFlight}`)),
  );
  for (const each of figures) {
    assert.equal(each.bench, "transfer");
    assert.equal(each.events, 5 * EVENTS);
    assert.ok(Number(each.eventsPerSecond) > 0 && Number(each.p50Ms) > 0 && Number(each.ratio) > 0);
  }
}

test("transfer measures in memory and with a real journal, and every transfer it reports took place", async (t) => {
  const directory = await directoryFor(t);
  const { figures, stderr } = await transfer(directory);
  checkFigures(figures, CASES);
  assert.match(stderr, /(met|MISSED): headwater-transfer reaches 400,000 transfers per second: [\d,]+$/m);
  assert.deepEqual(await leftIn(directory), []);
});

test("with --peers transfers are made in PostgreSQL, too, or it is said to be missing", async (t) => {
  const directory = await directoryFor(t);
  const { figures, stderr } = await transfer(directory, "--peers");
  const isMissing = /PostgreSQL is not installed .*: apt-get install postgresql$/m.test(stderr);
  checkFigures(figures, isMissing ? CASES : [...CASES, "postgres-transfer"]);
  assert.deepEqual(await leftIn(directory), []);
});

/** What a bench left in its directory for temporary files; the loader's cache is not the bench's. */
async function leftIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith("headwater-"));
}

test("the key of rank r is drawn with a probability proportional to 1 / r^skew", () => {
  const [keys, skew, draws] = [50, 0.999, 200_000];
  const zipf = new Zipf(keys, skew);
  const counts = new Array<number>(keys).fill(0);
  for (let i = 0; i < draws; i++) {
    const key = zipf.next();
    counts[key] = (counts[key] ?? 0) + 1;
  }
  const weights = counts.map((_, key) => 1 / (key + 1) ** skew);
  const sum = weights.reduce((a, b) => a + b);
  for (const [key, count] of counts.entries()) {
    const expected = ((weights[key] as number) / sum) * draws;
    assert.ok(Math.abs(count - expected) < 8 * Math.sqrt(expected), `key ${key}: ${count}, not ${expected}`);
  }
});

test("a transfer is between two different accounts", () => {
  const zipf = new Zipf(3, 0.999);
  for (let i = 0; i < 1000; i++) {
    const { from, to } = nextTransfer(zipf);
    assert.ok(from !== to && from < 3 && to < 3 && from >= 0 && to >= 0);
  }
});
