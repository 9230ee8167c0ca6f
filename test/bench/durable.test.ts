import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { folderWith, newestFirst } from "../../bench/lib/peer-process.js";
import { findPeers } from "../../bench/lib/peers.js";
import { RespClient } from "../../bench/lib/resp.js";

const root = new URL("../../", import.meta.url);

const CASES = [
  "append-fdatasync",
  "headwater-durable",
  "headwater-durable-written",
  "headwater-durable-history",
  "headwater-durable-ws",
  "headwater",
  "headwater-ws",
];

const PEERS = [
  { missing: /Redis is not installed .*: apt-get install redis-server$/m, cases: ["redis-incr-aof-always"] },
  {
    missing: /PostgreSQL is not installed .*: apt-get install postgresql$/m,
    cases: ["postgres-update", "postgres-batched"],
  },
];

function command(...args: string[]): string[] {
  return ["--import", "tsx", "bench/main.ts", ...args];
}

/** A directory that other users can enter too, as the one of the system: PostgreSQL does not run as root. */
async function directoryFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-test-"));
  t.after(() => rm(directory, { recursive: true }));
  await chmod(directory, 0o755);
  return directory;
}

function figuresOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function checkFigures(figures: readonly Record<string, unknown>[], cases: readonly string[], events: number) {
  assert.deepEqual(
    figures.map((each) => `${each.case} ${each.inFlight}`),
    [1, 256, 1024].flatMap((inFlight) => cases.map((name) => `${name} ${inFlight}`)),
  );
  for (const each of figures) {
    assert.equal(each.bench, "durable");
    assert.equal(each.events, 5 * events);
    assert.ok(Number(each.eventsPerSecond) > 0 && Number(each.p50Ms) > 0 && Number(each.ratio) > 0);
  }
}

test("durable uses a real journal and a real server process, and every event it reports took place", async () => {
  const args = command("durable", "--quick", "--json", "--events", "40");
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  checkFigures(figuresOf(stdout), CASES, 40);
});

test("with --peers each database is measured or said to be missing, and nothing stays behind", async (t) => {
  const TMPDIR = await directoryFor(t);
  const args = command("durable", "--peers", "--quick", "--json", "--events", "40");
  const env = { ...process.env, TMPDIR };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  const found = PEERS.flatMap(({ missing, cases }) => (missing.test(stderr) ? [] : cases));
  checkFigures(figuresOf(stdout), [...CASES, ...found], 40);
  assert.deepEqual(await leftIn(TMPDIR), []);
});

test("a bench that is interrupted stops its servers and removes its directories", async (t) => {
  const TMPDIR = await directoryFor(t);
  const env = { ...process.env, TMPDIR };
  const bench = spawn(process.execPath, command("durable", "--peers"), { cwd: root, env });
  let said = "";
  bench.stdout.resume();
  bench.stderr.on("data", (chunk) => {
    if (!said.includes("in flight") && (said += chunk).includes("in flight")) bench.kill("SIGINT");
    else said += chunk;
  });
  assert.deepEqual(await once(bench, "close"), [1, null]);
  assert.match(said, /^bench durable: interrupted\.$/m);
  assert.deepEqual(await leftIn(TMPDIR), []);
});

/** What a bench left in its directory for temporary files; the loader's cache is not the bench's. */
async function leftIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith("headwater-"));
}

test("the benches without peers refuse --peers", async () => {
  for (const name of ["micro", "state"]) {
    const refused = promisify(execFile)(process.execPath, command(name, "--peers"), { cwd: root });
    await assert.rejects(refused, { code: 1, stderr: /Unknown option '--peers'/ });
  }
});

test("a peer that is not installed is named, with the command that installs it", async (t) => {
  const empty = await directoryFor(t);
  const { cases, missing } = findPeers([empty], join(empty, "versions"));
  assert.deepEqual(cases, []);
  assert.equal(missing.length, PEERS.length);
  for (const [i, { missing: sentence }] of PEERS.entries()) assert.match(missing[i] ?? "", sentence);
});

test("of several versions the newest that has all programs is used", async (t) => {
  const versions = await directoryFor(t);
  const programs: Record<string, string[]> = { "9.6": ["a", "b"], 15: ["a", "b"], 17: ["a"] };
  for (const [version, names] of Object.entries(programs)) {
    await mkdir(join(versions, version));
    for (const name of names) await writeFile(join(versions, version, name), "", { mode: 0o755 });
  }
  assert.deepEqual(newestFirst(versions), ["17", "15", "9.6"]);
  const folders = newestFirst(versions).map((version) => join(versions, version));
  assert.equal(folderWith(["a", "b"], folders), join(versions, "15"));
  assert.equal(folderWith(["c"], folders), undefined);
});

test("the Redis client finds its replies however they are cut into pieces", async (t) => {
  const path = join(await directoryFor(t), "socket");
  const replies = ":7\r\n$5\r\nab\r\nc\r\n*3\r\n$1\r\n1\r\n$-1\r\n:2\r\n-ERR no\r\n+OK\r\n";
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.once("data", async () => {
      for (const byte of replies) {
        socket.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  }).listen(path);
  await once(server, "listening");
  t.after(() => server.close());
  const client = await RespClient.connect(path);
  t.after(() => client.close());
  const asked = ["a", "b", "c", "d", "e"].map((word) => client.ask(word));
  const settled = await Promise.allSettled(asked);
  assert.deepEqual(
    settled.map((each) => (each.status === "fulfilled" ? each.value : String(each.reason))),
    [7, "ab\r\nc", ["1", null, 2], "Error: Redis: ERR no", "OK"],
  );
  const unanswered = client.ask("f");
  await client.close();
  await assert.rejects(unanswered, /closed the connection/);
  await assert.rejects(client.ask("g"), /closed the connection/);
});
