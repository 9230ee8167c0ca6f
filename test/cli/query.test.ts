import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { headwater, MAIN, runHere } from "./headwater.js";

const CSV = `user,page,ms,at
ada,/home,120,2025-01-01 10:00:00
bob,/home,80,2025-01-01 10:00:30
ada,/cart,,2025-01-01 10:01:10
eve,"/a,b",300,2025-01-01 10:02:00
`;

function folderWith(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), "headwater-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

test("query answers from a CSV file, in a table, as CSV and as JSON", async (t) => {
  const file = join(folderWith(t, { "clicks.csv": CSV }), "clicks.csv");
  const ask = (...more: string[]) =>
    headwater(
      "query",
      'select "user", count(*) as n, sum(ms) from clicks group by 1 order by 2 desc, 1',
      "--from",
      file,
      ...more,
    );
  assert.deepEqual(await ask(), {
    exitCode: 0,
    stdout: "user  n  sum\n────  ─  ───\nada   2  120\nbob   1   80\neve   1  300",
    stderr: "",
  });
  assert.equal((await ask("--format", "csv")).stdout, "user,n,sum\nada,2,120\nbob,1,80\neve,1,300");
  assert.equal((await ask("--json")).stdout.split("\n")[0], '{"user":"ada","n":2,"sum":120}');
});

test("query has windows, gzip, NDJSON, other names and types", async (t) => {
  const lines = Array.from({ length: 5000 }, (_, i) =>
    JSON.stringify({ id: i, at: 1000 * i, kind: i % 3 === 0 ? "a" : "b", more: { x: i } }),
  );
  const folder = folderWith(t, {
    "events-1.ndjson.gz": gzipSync(lines.join("\n")),
    "plain.txt": "1;x\n2;y\n",
  });
  const windows = await headwater(
    "query",
    "select window_start, count(*) from tumble(e, at, interval '1 hour') where kind = 'a' group by 1 order by 1",
    "--from",
    join(folder, "events-1.ndjson.gz"),
    "--name",
    "e",
    "--types",
    "at=timestamp",
    "--json",
  );
  assert.equal(
    windows.stdout,
    '{"window_start":"1970-01-01T00:00:00Z","count":1200}\n{"window_start":"1970-01-01T01:00:00Z","count":467}',
  );
  const named = await headwater(
    "query",
    "select id, more from events_1 where id = 7",
    "--from",
    join(folder, "events-1.ndjson.gz"),
    "--json",
  );
  assert.equal(named.stdout, '{"id":7,"more":{"x": 7}}');
  const plain = await headwater(
    "query",
    "select column2 from plain where column1 > 1",
    "--from",
    join(folder, "plain.txt"),
    "--input",
    "csv",
    "--no-header",
    "--delimiter",
    ";",
    "--format",
    "csv",
  );
  assert.equal(plain.stdout, "column2\ny");
});

test("query reads stdin, and the table is called stdin", async () => {
  const process_ = spawn(process.execPath, [
    MAIN,
    "query",
    "select count(*) from stdin",
    "--from",
    "-",
    "--format",
    "csv",
  ]);
  let out = "";
  process_.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  process_.stdin.end(CSV);
  assert.deepEqual(await once(process_, "close"), [0, null]);
  assert.equal(out, "count\n4\n");
});

test("query reads no more of a file than LIMIT needs", async (t) => {
  const good = `a\n1\n${"2\n".repeat(1_500_000)}`;
  const folder = folderWith(t, { "long.csv": `${good}not a number\n` });
  const { stdout, exitCode } = await runHere(
    folder,
    "query",
    "select a from long limit 2",
    "--from",
    "long.csv",
    "--format",
    "csv",
  );
  assert.deepEqual([stdout, exitCode], ["a\n1\n2\n", 0]);
  const all = await runHere(folder, "query", "select count(*) from long", "--from", "long.csv");
  assert.equal(all.exitCode, 1);
  assert.match(
    all.stderr,
    /HW-5302: Line 1500003 \(byte 3000004\): the column "a" is "not a number"; it takes int\./,
  );
});

test("a compressed file that ends early is refused, wherever it ends", async (t) => {
  const lines = Array.from({ length: 200_000 }, (_, i) => `${i},${(i * 7919) % 100_003}`);
  const whole = gzipSync(`a,b\n${lines.join("\n")}\n`);
  for (const share of [0.01, 0.9]) {
    const file = join(folderWith(t, { "cut.csv.gz": whole.subarray(0, share * whole.length) }), "cut.csv.gz");
    const { stderr, exitCode } = await headwater("query", "select count(*) from cut", "--from", file);
    assert.match(stderr, /HW-2001: .*cut\.csv\.gz cannot be read: unexpected end of file/);
    assert.equal(exitCode, 2);
  }
});

test("rows that an expression refuses are left out, counted, and make the exit code 1", async (t) => {
  const file = join(folderWith(t, { "clicks.csv": CSV }), "clicks.csv");
  const { stdout, stderr, exitCode } = await headwater(
    "query",
    "select 1000 / (ms - 80) as x from clicks where ms is not null",
    "--from",
    file,
    "--format",
    "csv",
  );
  assert.deepEqual([stdout, exitCode], ["x\n25\n4", 1]);
  assert.equal(stderr, "incomplete: One row was left out; the first because of: division by zero.");
});

const MISUSED: [args: string[], message: RegExp][] = [
  [["select 1"], /HW-2001: --from FILE is missing/],
  [["select 1", "--from", "none.csv"], /HW-2004: There is no file none\.csv/],
  [["select 1", "--from", "x", "--format", "xml"], /--format is table, csv, json, not "xml"/],
  [
    ["select 1", "--from", "x", "--types", "a=number"],
    /--types is int, float, bool, text, timestamp, json, not "number"/,
  ],
  [["select 1", "--from", "x", "--delimiter", "ab"], /--delimiter is one ASCII character/],
];

test("query says what is wrong with its options", async () => {
  for (const [args, message] of MISUSED) {
    const { stderr, exitCode } = await headwater("query", ...args);
    assert.match(stderr, message);
    assert.equal(exitCode, 2);
  }
});
