import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MemoryJournal } from "headwater";
import { openStreams } from "headwater/streams";
import { refused } from "../refused.js";
import { until } from "../waits.js";
import { httpReceiver, tcpReceiver } from "./receivers.js";

async function opened(t: TestContext, more: Parameters<typeof openStreams>[0] = {}) {
  const streams = await openStreams({ outputs: { isPrivateAllowed: true }, ...more });
  t.after(() => streams.service.close());
  await streams.define("CREATE STREAM s (n bigint)");
  return streams;
}

const rows = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ n: from + i }));
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);
const FAST = { backoffMs: 1, timeoutMs: 200 };

test("a target that fails in every way gets each row, in order, under one key per batch", async (t) => {
  const streams = await opened(t);
  const taken: number[] = [];
  const bodies = new Map<string, string>();
  const target = await httpReceiver(t, ({ key, body, numbers }, response, attempt) => {
    assert.equal(bodies.get(key) ?? body, body, "a key stands for one batch");
    bodies.set(key, body);
    const fault = (Number(/\d+/.exec(key)?.[0]) + attempt) % 6;
    if (attempt > 4 || fault === 0) {
      taken.push(...numbers);
      response.end("ok");
    } else if (fault === 1) response.writeHead(500).end("broken");
    else if (fault === 2) response.writeHead(429, { "retry-after": "0" }).end();
    else if (fault === 3) response.destroy();
    else if (fault === 4) {
      response.writeHead(200, { "content-length": 100 }).write("half");
      response.flushHeaders();
      setImmediate(() => response.destroy());
    } // otherwise it hangs until the attempt has taken too long
  });
  await streams.registerOutput("s", target.url, { name: "web", batchRows: 7, ...FAST });
  for (let i = 0; i < 6; i++) await streams.pushEvents("s", rows(i * 10, 10));
  await until(async () => (await streams.outputs.status("web")).lag === 0);
  assert.deepEqual(taken, upTo(60));
  const status = await streams.outputs.status("web");
  assert.deepEqual([status.position, status.deadLetters, status.skipped], [61, 0, 0]);
  assert.ok(status.lastError !== null);
});

test("what a target refuses becomes a dead letter that can be read, replayed and dropped; the rows behind it go on", async (t) => {
  const streams = await opened(t);
  let isRepaired = false;
  const target = await httpReceiver(t, ({ numbers }, response) => {
    const isBad = numbers.includes(2) || numbers.includes(4);
    response.writeHead(isBad && !isRepaired ? 422 : 200).end(isBad ? "no such\ncolumn" : "");
  });
  await streams.registerOutput("s", target.url, { name: "web", batchRows: 1, ...FAST });
  await streams.pushEvents("s", rows(0, 5));
  await until(async () => (await streams.outputs.status("web")).lag === 0);
  const letters = await streams.outputs.deadLetters("web");
  assert.deepEqual(
    letters.map(({ first, error }) => [first, error]),
    [
      [2, "the target answered 422: no such column"],
      [4, "the target answered 422: no such column"],
    ],
  );
  await refused(streams.outputs.replay("web", 2), "HW-5504");
  await refused(streams.outputs.replay("web", 3), "HW-5503");
  isRepaired = true;
  await streams.outputs.replay("web", 2);
  await streams.outputs.drop("web", 4);
  assert.deepEqual(await streams.outputs.deadLetters("web"), []);
  assert.deepEqual(
    target.received.filter(({ numbers }) => numbers.includes(2)).map(({ key }) => key),
    ['"s:2"', '"s:2"', '"s:2"'],
  );
});

test("a target that keeps answering with errors gets so many attempts, and one that is away any number of them", async (t) => {
  const streams = await opened(t);
  const target = await httpReceiver(t, (_, response) => response.writeHead(503).end());
  await streams.registerOutput("s", target.url, { name: "web", attempts: 3, backoffMs: 1 });
  await streams.registerOutput("s", "http://127.0.0.1:1/", { name: "away", attempts: 3, ...FAST });
  await streams.pushEvents("s", rows(0, 2));
  await until(async () => (await streams.outputs.status("web")).deadLetters === 1);
  assert.equal(target.received.length, 3);
  await until(async () => (await streams.outputs.status("away")).attempts > 5);
  const { deadLetters, lag } = await streams.outputs.status("away");
  assert.deepEqual([deadLetters, lag], [0, 2]);
});

test("a target that was away has all its answers when it is back", async (t) => {
  const streams = await opened(t);
  const target = await httpReceiver(t, (_, response, attempt) => {
    if (attempt < 6) response.destroy();
    else response.writeHead(attempt === 6 ? 503 : 200).end();
  });
  await streams.registerOutput("s", target.url, { name: "web", attempts: 2, backoffMs: 1 });
  await streams.pushEvents("s", rows(0, 1));
  await until(async () => (await streams.outputs.status("web")).lag === 0);
  assert.equal((await streams.outputs.status("web")).deadLetters, 0);
  assert.equal(target.received.length, 7);
});

test("secrets reach the target and nothing else", async (t) => {
  const journal = new MemoryJournal();
  const streams = await opened(t, { journal, outputs: { isPrivateAllowed: true } });
  const target = await httpReceiver(t, (_, response) => response.writeHead(500).end());
  const secrets = { authorization: "Bearer sesame" };
  await streams.registerOutput("s", `${target.url}?key=sesame`, { name: "web", secrets, ...FAST });
  await streams.pushEvents("s", rows(0, 1));
  await until(() => target.received.length > 0);
  assert.equal(target.received[0]?.headers.authorization, "Bearer sesame");
  const shown = JSON.stringify([await streams.outputs.list(), streams.list()]);
  assert.doesNotMatch(shown, /sesame/);
  assert.match(shown, /"secrets":\["authorization"\]/);
});

test("targets on this machine and in private networks are refused, however they are written", async (t) => {
  const streams = await opened(t, {});
  const service = streams.service;
  const strict = await openStreams();
  t.after(() => strict.service.close());
  await strict.define("CREATE STREAM s (n bigint)");
  for (const host of [
    "127.0.0.1",
    "localhost",
    "x.localhost",
    "10.1.2.3",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "0x7f.1",
    "2130706433",
    "0",
    "[fd00::1]",
    "192.168.0.1",
    "[64:ff9b::7f00:1]",
  ])
    for (const url of [
      `http://${host}/x`,
      `tcp://${host === "0x7f.1" || host === "2130706433" || host === "0" ? "127.0.0.1" : host}:99`,
    ])
      await refused(strict.registerOutput("s", url), "HW-5502");
  for (const bad of [
    "ftp://example.com",
    "http://user:pass@example.com/",
    "tcp://example.com",
    "file:../x.ndjson",
    "file:/etc/x.csv",
    "file:a/../../b.csv",
    "file:x.txt",
    "nats://example.com:1/a.*",
    "nonsense",
  ])
    await refused(strict.registerOutput("s", bad), "HW-5501");
  for (const closed of ["file:x.csv", "stdout:"])
    await refused(strict.registerOutput("s", closed), "HW-5502");
  await refused(
    strict.registerOutput("s", "https://example.com", { secrets: { "idempotency-key": "x" } }),
    "HW-5501",
  );
  await refused(strict.registerOutput("nothing", "https://example.com"), "HW-5401");
  assert.deepEqual(await strict.outputs.list(), []);
  assert.ok(service.has("default"));
});

test("a redirect is not followed", async (t) => {
  const streams = await opened(t);
  const secret = await httpReceiver(t);
  const target = await httpReceiver(t, (_, response) =>
    response.writeHead(307, { location: secret.url }).end(),
  );
  await streams.registerOutput("s", target.url, { name: "web", ...FAST });
  await streams.pushEvents("s", rows(0, 1));
  await until(async () => (await streams.outputs.status("web")).deadLetters === 1);
  assert.equal(secret.received.length, 0);
});

test("over TCP with acknowledgements every row arrives, in order, however often the connection breaks", async (t) => {
  const streams = await opened(t);
  const seen: number[] = [];
  const { port } = await tcpReceiver(t, (number, socket) => {
    seen.push(number);
    if (seen.length % 13 === 0) socket.destroy();
    else socket.write(`${number}\n`);
  });
  await streams.registerOutput("s", `tcp://127.0.0.1:${port}`, {
    name: "tcp",
    acks: true,
    batchRows: 5,
    ...FAST,
  });
  for (let i = 0; i < 8; i++) await streams.pushEvents("s", rows(i * 10, 10));
  await until(async () => (await streams.outputs.status("tcp")).lag === 0);
  assert.deepEqual([...new Set(seen)], upTo(80), "first arrivals are in order and complete");
  for (const [i, number] of seen.entries())
    assert.ok(i === 0 || number <= (seen[i - 1] ?? 0) + 1, "nothing is left out");
});

test("a slow target slows only itself, and rows wait for it beyond the retention", async (t) => {
  const streams = await opened(t);
  await streams.deregister("s");
  await streams.registerStream("s", { n: "bigint?" }, { retention: { bytes: 2000 } });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: number[] = [];
  const [quick, late] = [
    await httpReceiver(t),
    await httpReceiver(t, async ({ numbers }, response) => {
      await held;
      slow.push(...numbers);
      response.end();
    }),
  ];
  await streams.registerOutput("s", quick.url, { name: "quick" });
  await streams.registerOutput("s", late.url, { name: "late" });
  for (let i = 0; i < 50; i++) await streams.pushEvents("s", rows(i * 20, 20));
  await until(async () => (await streams.outputs.status("quick")).lag === 0);
  assert.equal(slow.length, 0);
  await refused(streams.deregister("s"), "HW-5404");
  release();
  await until(async () => (await streams.outputs.status("late")).lag === 0);
  assert.deepEqual(slow, upTo(1000));
  await streams.deregisterOutput("late");
  await streams.deregisterOutput("quick");
  await streams.pushEvents("s", rows(0, 1));
  assert.ok(((await streams.describe("s")).first ?? 0) > 500, "rows that nothing waits for are let go");
  await streams.deregister("s");
});

test("a file has each row once, in order, over restarts, and what a crash has left behind is cut off", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "headwater-files-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const journal = new MemoryJournal();
  const options = { journal, outputs: { directory } };
  const [ndjson, csv] = [join(directory, "default/out/s.ndjson"), join(directory, "default/s.csv")];
  let streams = await openStreams(options);
  await streams.define("CREATE STREAM s (n bigint, t text)");
  await streams.registerOutput("s", "file:out/s.ndjson", { name: "lines", batchRows: 3 });
  await streams.registerOutput("s", "file:s.csv", { name: "table", batchRows: 3 });
  await refused(streams.registerOutput("s", "file:s.csv", { name: "other" }), "HW-5501");
  for (let round = 0; round < 4; round++) {
    await streams.pushEvents("s", [
      { n: 1, t: 'a "b"\nc' },
      { n: 2 },
      { n: 3, t: "" },
      { n: 4, t: "," },
      { n: 5, t: "x" },
    ]);
    for (const name of ["lines", "table"])
      await until(async () => (await streams.outputs.status(name)).lag === 0);
    await streams.service.close();
    for (const file of [ndjson, csv]) writeFileSync(file, "what a crash left".repeat(999), { flag: "a" });
    streams = await openStreams(options);
  }
  await streams.pushEvents("s", [{ n: 6 }]);
  for (const name of ["lines", "table"])
    await until(async () => (await streams.outputs.status(name)).lag === 0);
  await streams.service.close();
  const lines = readFileSync(ndjson, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { number: number }).number),
    upTo(21),
  );
  const table = readFileSync(csv, "utf8");
  assert.ok(
    table.startsWith('number,weight,n,t\n1,1,1,"a ""b""\nc"\n2,1,2,\n3,1,3,""\n4,1,4,","\n'),
    table.slice(0, 80),
  );
  assert.deepEqual(
    [...table.matchAll(/^(\d+),1,\d/gm)].map(([, number]) => Number(number)),
    upTo(21),
  );
});

test("rows that are taken back are delivered as such, and an output begins where it is told to", async (t) => {
  const streams = await opened(t);
  await streams.registerQuery(
    "sums",
    "SELECT n % 2 AS odd, count(*) AS c FROM s GROUP BY n % 2 EMIT CHANGES",
  );
  await streams.pushEvents("s", rows(1, 1));
  const target = await httpReceiver(t);
  await streams.registerOutput("sums", target.url, { name: "all", from: 1 });
  await streams.pushEvents("s", rows(3, 1));
  await until(async () => (await streams.outputs.status("all")).lag === 0);
  const lines = target.received
    .flatMap(({ body }) => body.trim().split("\n"))
    .map((line) => JSON.parse(line) as unknown);
  assert.deepEqual(lines, [
    { number: 1, weight: 1, row: { odd: 1, c: 1 } },
    { number: 2, weight: -1, row: { odd: 1, c: 1 } },
    { number: 3, weight: 1, row: { odd: 1, c: 2 } },
  ]);
  await refused(streams.registerOutput("sums", target.url, { name: "all" }), "HW-5402");
  await refused(streams.registerOutput("sums", target.url, { from: 9 }), "HW-5501");
});
