import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROUTES } from "#src/streams/http/routes.js";
import fc from "../properties.js";
import { refused } from "../refused.js";
import { type Served, served } from "./served.js";

/**
 * FAULTS.md's lists, generated: whatever is asked on any route, the answer is one that the caller can act on, with a code, and never an
 * internal error; and other tenants notice nothing. Routes that are added are tried without a word here.
 */

const NAMES = [
  ...[
    "s",
    "q",
    "v",
    "t",
    "q.late",
    "s.errors",
    "zoo.s",
    "a.b",
    "S",
    "é",
    "",
    " ",
    "..",
    "\0",
    "%",
    "x".repeat(300),
  ],
  ...["__proto__", "constructor", "hasOwnProperty", "default"],
];

const SQL = [
  ...["SELECT n FROM s", "SELECT n FROM s WHERE n > 1", "SELECT * FROM q", "SELECT * FROM v", "EXPLAIN q"],
  ...[
    "SELECT count(*) AS c FROM s",
    "SELECT sum(n) AS x FROM s EMIT CHANGES",
    "SELECT n, count(*) AS c FROM s GROUP BY n",
  ],
  ...[
    "SELECT 1 AS one",
    "SELECT repeat('x', 2000000000) AS t",
    "SELECT",
    "",
    "SELECT 1/0",
    "DROP TABLE s",
    "SELECT n FROM s; SELECT 1",
  ],
  ...[
    "CREATE STREAM t (n bigint)",
    "CREATE TABLE t (n bigint PRIMARY KEY, w text)",
    "CREATE STREAM u (n nosuch)",
  ],
  ...["CREATE MATERIALIZED VIEW v AS SELECT n, count(*) AS c FROM s GROUP BY n", "SELECT a.n FROM s a, s b"],
  ...["SELECT * FROM pg_catalog.pg_class", "SELECT pg_read_file('/etc/passwd')", "COPY s FROM '/etc/passwd'"],
  ...[
    "SELECT lpad('x', 1000000000) AS t FROM s",
    "SELECT n::numeric ^ 100000 AS t FROM s",
    'SELECT n AS "__proto__" FROM s',
  ],
  ...["SELECT w FROM s WHERE w ~ '(a+)+$'", `SELECT ${"(".repeat(2000)}1${")".repeat(2000)} AS n FROM s`],
  ...[
    `SELECT ${Array.from({ length: 2000 }, () => "n").join("+")} AS n FROM s`,
    "SELECT $1 FROM s",
    "SELECT n FROM s LIMIT -1",
  ],
  ...["WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r"],
];

const DEFINITIONS: readonly object[] = [
  ...[
    { name: "t", columns: { n: "bigint" } },
    { name: "t", columns: { n: "bigint", at: "timestamp" }, time: { column: "at" } },
  ],
  ...[
    { name: "u", columns: { n: "bigint" }, key: ["n"] },
    { name: "u", columns: { n: "numeric(1000,2)" } },
    { name: "w", columns: {} },
  ],
  ...[
    { name: "w", columns: { n: "bigint" }, seals: { columns: ["n"], producers: ["p"] } },
    { producer: "p", partitions: [[1]] },
  ],
  ...[
    { producers: ["p", "q"] },
    { with: ["zoo"] },
    { with: "all" },
    { scopes: ["read"] },
    { name: "x", cpuShare: 0 },
  ],
  ...[
    { stream: "s", target: "http://127.0.0.1:1/" },
    { stream: "s", target: "https://user:pw@example.com/" },
  ],
  ...[
    { stream: "s", target: "file:../../etc/passwd" },
    { stream: "s", target: "http://169.254.169.254/" },
    { stream: "s", target: "http://0x7f.1/" },
  ],
  ...[
    { stream: "s", from: "tcp://127.0.0.1:0" },
    { stream: "s", from: "jetstream://127.0.0.1:1/S" },
    { stream: "s", from: "http://x" },
  ],
];

const FIELDS = [
  ...[
    "name",
    "sql",
    "columns",
    "key",
    "time",
    "eventId",
    "retention",
    "seals",
    "producer",
    "upTo",
    "partitions",
    "sequence",
  ],
  ...[
    "producers",
    "with",
    "scopes",
    "expiresMs",
    "stream",
    "target",
    "from",
    "secrets",
    "backfill",
    "coordination",
    "reason",
  ],
  ...[
    "batchRows",
    "attempts",
    "streams",
    "queries",
    "eventsPerSecond",
    "stateBytes",
    "cpuShare",
    "acks",
    "__proto__",
  ],
];

const value = fc.constantFrom<unknown>(
  ...[
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    "",
    "x",
    "1",
    "\0",
    "\ud800",
    "x".repeat(5000),
    [],
    {},
    [[]],
    [[1]],
    [null],
    { a: 1 },
    "all",
  ],
);
const changed = fc
  .tuple(
    fc.constantFrom(...DEFINITIONS),
    fc.array(fc.tuple(fc.constantFrom(...FIELDS), value), { maxLength: 2 }),
  )
  .map(([definition, changes]) => JSON.stringify({ ...definition, ...Object.fromEntries(changes) }));
const asked = fc
  .tuple(fc.constantFrom(...NAMES, undefined), fc.constantFrom(...SQL))
  .map(([name, sql]) => JSON.stringify({ name, sql }));
const line = fc.constantFrom(
  ...[
    '{"n":1}',
    '{"n":"x"}',
    '{"n":1,"w":"a"}',
    "{",
    "",
    "[]",
    "null",
    '{"n":9007199254740993}',
    '{"n":1e400}',
    '{"n":1,"n":2}',
  ],
  ...['{"__proto__":{"n":1}}', '{"n":null}', "\0", '{"n":1.5}', '{"n":-0}'],
);
const lines = fc.array(line, { maxLength: 20 }).map((each) => each.join("\n"));
const body = fc.oneof(
  { weight: 4, arbitrary: changed },
  { weight: 4, arbitrary: asked },
  { weight: 2, arbitrary: lines },
  { weight: 1, arbitrary: fc.constant("[".repeat(100_000)) },
  { weight: 1, arbitrary: lines.map((text) => gzipSync(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
);
const request = fc.record({
  route: fc.constantFrom(...ROUTES),
  names: fc.array(fc.constantFrom(...NAMES), { minLength: 2, maxLength: 2 }),
  query: fc.constantFrom(
    ...[
      "",
      "from=1",
      "from=-1",
      "from=1e9",
      "key=1",
      "producer=p&sequence=1",
      "sequence=1",
      "seal=[1]",
      "seal=x",
      "partition=[1]&wait=1",
    ],
    ...[
      "partition=x&wait=-1",
      "decimals=text",
      "limit=-5",
      "limit=1e12",
      "from=1&to=2",
      "key=%00",
      "%",
      "a=b=c&&&",
    ],
  ),
  headers: fc.constantFrom<Readonly<Record<string, string>>>(
    ...[{}, {}, {}, { "content-encoding": "gzip" }, { "content-encoding": "br" }, { "idempotency-key": "k" }],
    ...[
      { "content-type": "application/x-headwater-columns" },
      { accept: "text/event-stream", "last-event-id": "x" },
    ],
  ),
  body,
});

test("whatever a tenant asks is answered, and other tenants notice nothing", async (t) => {
  const service = await served(t);
  const zoo = await service.service.tenant("zoo");
  await zoo.registerStream("s", { n: "bigint" });
  await zoo.registerQuery("q", "SELECT n FROM s");
  await service.streams.registerStream("s", { n: "bigint", w: "text?" });
  let pushed = 0;
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      const reply = await answer(service, given);
      if (reply === null) return;
      assert.ok(reply.status < 500 || reply.status === 503, `${reply.status} ${reply.text}`);
      if (reply.status >= 400) assert.match(reply.text, /^\{"error":\{"code":"HW-\d{4}"/);
      assert.doesNotMatch(reply.text, /HW-9\d\d\d|HW-5002/);
      pushed++;
      await zoo.pushEvents("s", [{ n: pushed }]);
    }),
    { numRuns: 200, seed: 17 },
  );
  assert.equal(await service.service.health(), null);
  const { rows } = await zoo.page("q", 1);
  assert.deepEqual(
    rows.map(({ number, json }) => [number, json]),
    Array.from({ length: pushed }, (_, i) => [i + 1, `{"n":${i + 1}}`]),
  );
});

async function answer({ url, token }: Served, given: Given) {
  const { route, names, query, headers, body: sent } = given;
  let place = 0;
  const path = route.path.replaceAll(/:\w+/g, () => encodeURIComponent(names[place++] ?? ""));
  const over = new AbortController();
  const reply = await fetch(`${url}${path}?${query}`, {
    ...{ method: route.method, signal: over.signal },
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(route.method === "GET" ? {} : { body: sent }),
  });
  if (reply.headers.get("content-type")?.includes("event-stream") === true) {
    over.abort(); // it goes on without end
    return null;
  }
  return { status: reply.status, text: await reply.text() };
}

type Given = typeof request extends fc.Arbitrary<infer T> ? T : never;

test("queries come and go while rows are pushed: each sees every row of its time once, and no push is lost", async (t) => {
  const { streams } = await served(t);
  await streams.registerStream("s", { n: "bigint" });
  const read = async (name: string) => {
    const found: number[] = [];
    for (let from = 1; ; ) {
      const { rows, next } = await streams.page(name, from);
      if (rows.length === 0) return found;
      found.push(...rows.map(({ json }) => (JSON.parse(json) as { n: number }).n));
      from = next;
    }
  };
  let next = 0;
  let isOver = false;
  const pushing = Array.from({ length: 4 }, async () => {
    while (!isOver) await streams.pushEvents("s", [{ n: next++ }, { n: next++ }]);
  });
  const seen: { readonly parity: number; readonly ns: readonly number[] }[] = [];
  const coming = Array.from({ length: 4 }, async (_, i) => {
    for (let round = 0; round < 6; round++) {
      const [parity, name] = [i % 2, `q${i}_${round}`];
      await streams.registerQuery(name, `SELECT n FROM s WHERE n % 2 = ${parity}`);
      await streams.registerQuery(`${name}_on`, `SELECT n + 10 AS n FROM ${name}`);
      await refused(streams.deregister(name), "HW-5404");
      await streams.pushEvents("s", [{ n: next++ }, { n: next++ }]);
      seen.push({ parity, ns: await read(name) });
      seen.push({ parity, ns: (await read(`${name}_on`)).map((n) => n - 10) });
      await streams.deregister(`${name}_on`);
      await streams.deregister(name);
    }
  });
  await Promise.all(coming);
  isOver = true;
  await Promise.all(pushing);
  const all = await read("s");
  for (const { parity, ns } of seen) {
    assert.ok(ns.length > 0);
    const [from, to] = [all.indexOf(ns[0] ?? -1), all.indexOf(ns.at(-1) ?? -1)];
    assert.deepEqual(
      ns,
      all.slice(from, to + 1).filter((n) => n % 2 === parity),
    );
  }
  assert.deepEqual(
    all.sort((a, b) => a - b),
    Array.from({ length: next }, (_, n) => n),
  );
});
