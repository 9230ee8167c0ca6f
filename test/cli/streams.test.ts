import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { served } from "../streams/served.js";
import { until } from "../waits.js";
import { headwater, Running } from "./headwater.js";

/** A service, and its command line with a token from a file. */
async function used(t: TestContext) {
  const service = await served(t, { outputs: { isPrivateAllowed: true, isListeningAllowed: true } });
  const folder = mkdtempSync(join(tmpdir(), "headwater-cli-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, service.token);
  const options = ["--url", service.url, "--token-file", tokenFile];
  const run = (...args: string[]) => headwater("streams", ...args, ...options);
  const done = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(...args);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  const rowsOf = async (name: string) =>
    (await service.streams.page(name, 1)).rows.map(({ json }) => JSON.parse(json) as unknown);
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  return { ...{ service, folder, options, run, done, rowsOf, write } };
}

test("NDJSON and CSV are pushed from files, plain or gzip, and every record arrives once and in order", async (t) => {
  const { done, rowsOf, write } = await used(t);
  const rows = Array.from({ length: 40_000 }, (_, n) => ({ n, what: n % 3 === 0 ? null : `a,"${n}"` }));
  const ndjson = rows.map((row) => JSON.stringify(row)).join("\n");
  const field = (what: string | null) => (what === null ? "" : `"${what.replaceAll('"', '""')}"`);
  const csv = `what,n\n${rows.map(({ n, what }) => `${field(what)},${n}`).join("\n")}\n`;
  for (const [name, file] of [
    ["a", write("rows.ndjson", ndjson)],
    ["b", write("rows.csv", csv)],
    ["c", write("rows.csv.gz", gzipSync(csv))],
    ["d", write("rows.jsonl.gz", gzipSync(`${ndjson}\n`))],
  ] as const) {
    await done(
      "register",
      `CREATE STREAM ${name} (n bigint, what text) WITH (retention_bytes = '100000000')`,
    );
    assert.equal(await done("push", name, "--from", file, "--json"), `{"rows":${rows.length}}`);
    const found: unknown[] = [];
    found.push(...(await rowsOf(name)));
    assert.deepEqual(found, rows.slice(0, found.length));
    assert.ok(found.length > 1000);
  }
});

test("a push names the record that does not fit, and a column that the stream does not have", async (t) => {
  const { done, run, write } = await used(t);
  await done("register", "CREATE STREAM s (n bigint)");
  const bad = await run("push", "s", "--from", write("bad.csv", "n\n1\nx\n"));
  assert.match(bad.stderr, /HW-5302.*Line 3/);
  const odd = await run("push", "s", "--from", write("odd.csv", "m\n1\n"));
  assert.match(odd.stderr, /HW-5302.*no column "m"; it has n/);
  const absent = await run("push", "s", "--from", "absent.csv");
  assert.match(absent.stderr, /HW-2004.*absent\.csv/);
});

test("a file that is followed is pushed as it grows, also after it was replaced, until an interrupt", async (t) => {
  const { done, options, folder, rowsOf, write } = await used(t);
  await done("register", "CREATE STREAM s (n bigint)");
  const file = write("log.ndjson", '{"n":1}\n');
  const running = new Running(["streams", "push", "s", "--from", file, "--follow", ...options], folder);
  t.after(() => running.interrupt("SIGKILL"));
  const isThere = (count: number) => until(async () => (await rowsOf("s")).length === count);
  await isThere(1);
  appendFileSync(file, '{"n":2}\n{"n":');
  await isThere(2);
  appendFileSync(file, "3}\n");
  await isThere(3);
  writeFileSync(file, '{"n":4}\n');
  await isThere(4);
  running.interrupt("SIGINT");
  const { exitCode, stderr } = await running.ended;
  assert.equal(exitCode, 0, stderr);
  assert.match(stderr, /4 rows were taken/);
  assert.deepEqual(await rowsOf("s"), [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
});

test("outputs are added, listed and removed, and their dead letters are shown, replayed and dropped", async (t) => {
  const { done, run, service, write } = await used(t);
  let status = 400;
  const heard: string[] = [];
  const target = createServer((request, response) => {
    assert.equal(request.headers["x-key"], "sesame");
    request.setEncoding("utf8").on("data", (text: string) => heard.push(text));
    request.on("end", () => {
      response.statusCode = status;
      response.end();
    });
  }).listen(0, "127.0.0.1");
  t.after(() => target.close());
  await until(() => target.listening);
  const address = target.address();
  const port = typeof address === "object" ? address?.port : 0;
  await done("register", "CREATE STREAM s (n bigint)");
  const secrets = write("secrets.json", '{"x-key":"sesame"}');
  const place = `http://127.0.0.1:${port}/rows`;
  assert.equal(await done("output", "add", "s", place, "--name", "web", "--secrets-file", secrets), "web");
  for (const n of [1, 2]) {
    await service.streams.pushEvents("s", [{ n }]);
    await until(async () => (await service.streams.outputs.status("web")).deadLetters === n);
  }
  assert.match(await done("output", "list"), /^web: s → http:.*lag 0, 2 dead letters/);
  assert.match(await done("output", "dead-letters", "web"), /^1: rows 1 to 1, .*\n2: rows 2 to 2/);
  status = 200;
  await done("output", "replay", "web", "1");
  await done("output", "drop", "web", "2");
  await until(async () => (await done("output", "dead-letters", "web")) === "");
  assert.deepEqual(
    heard.map((line) => (JSON.parse(line) as { number: number }).number),
    [1, 2, 1],
  );
  assert.doesNotMatch(await done("output", "show", "web"), /sesame/);
  await done("output", "remove", "web");
  assert.equal(await done("output", "list", "--json"), "");
  assert.match((await run("output", "turn")).stderr, /HW-2001.*dead-letters/s);
});

test("sources, seals and producers are used from the command line", async (t) => {
  const { done, service } = await used(t);
  await done("register", "CREATE STREAM s (n bigint) WITH (seal = 'n', producers = 'a, b')");
  await done("seal", "s", "[1]", "--producer", "a");
  await done("producers", "s", "a");
  assert.equal((await service.streams.partition("s", [1])).state, "sealed");
  await done("register", "CREATE STREAM r (n bigint)");
  assert.equal(await done("source", "add", "r", "tcp://127.0.0.1:0", "--name", "port"), "port");
  assert.match(await done("source", "list"), /^port: tcp:.* → r, 0 rows/);
  await done("source", "remove", "port");
  assert.equal(await done("source", "list"), "");
});
