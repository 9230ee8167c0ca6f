import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStreams } from "headwater/streams";
import { Client } from "pg";
import { type PgServer, servePostgres } from "#src/pgwire/index.js";
import { StreamsCatalog } from "#src/streams/pg/index.js";
import fc from "../properties.js";
import { refused } from "../refused.js";
import { type Postgres, startPostgres } from "../sql/postgres.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 150);

const COLUMNS = "k bigint, f double precision, s text, b boolean, ts timestamp";
const VIEW = "SELECT s, b, count(*) AS c, sum(k) AS total, max(ts) AS last FROM t GROUP BY s, b";

let postgres: Postgres;
let streams: Awaited<ReturnType<typeof openStreams>>;
let server: PgServer;
let catalog: StreamsCatalog;
let client: Client;

before(async () => {
  postgres = await startPostgres();
  streams = await openStreams();
  for (const name of ["t", "u"]) {
    await postgres.client.query(`CREATE TABLE ${name} (id bigint PRIMARY KEY, ${COLUMNS})`);
    await streams.define(`CREATE TABLE ${name} (id bigint PRIMARY KEY, ${COLUMNS})`);
  }
  await postgres.client.query(`CREATE VIEW v AS ${VIEW}`);
  await streams.define(`CREATE MATERIALIZED VIEW v AS ${VIEW}`);
  catalog = new StreamsCatalog(streams.service);
  server = await servePostgres({ catalog });
  const password = await streams.service.addToken("default", ["read"]);
  client = new Client({ host: "127.0.0.1", port: server.port, user: "default", password });
  await client.connect();
});

after(async () => {
  await client.end();
  catalog.close();
  await server.close();
  await streams.service.close();
  await postgres.stop();
});

const row = fc.record({
  id: fc.nat(9),
  k: fc.option(fc.constantFrom(-2, 0, 1, 7, 5_000_000_000)),
  f: fc.option(fc.constantFrom(-2.5, 0, 0.5, 1024)),
  s: fc.option(fc.constantFrom("", "a", "B", "ab", "€")),
  b: fc.option(fc.boolean()),
  ts: fc.option(fc.constantFrom("2024-02-29 12:30:45.25", "1970-01-01 00:00:00", "2024-03-01 00:00:00")),
});
/** Each row replaces the one before it with the same id. */
const batches = fc.array(
  fc.record({ table: fc.constantFrom("t", "u"), rows: fc.array(row, { maxLength: 6 }) }),
  {
    maxLength: 3,
  },
);

type Text = fc.Arbitrary<string>;
const words = (strings: TemplateStringsArray, ...parts: Text[]): Text =>
  fc.tuple(...parts).map((each) => strings.reduce((text, string, i) => text + string + (each[i] ?? ""), ""));
const one = (...texts: string[]): Text => fc.constantFrom(...texts);

const condition: Text = fc.letrec<{ all: string }>((tie) => ({
  all: fc.oneof(
    { maxDepth: 2 },
    words`x.k ${one("=", "<>", "<", ">=")} ${one("0", "1", "7", "x.f")}`,
    words`x.s ${one("=", "like", "not like", ">", "in")} ('a')`,
    words`x.s is ${one("", "not ")}null`,
    words`x.ts >= ${one("'2024-03-01'", "timestamp '1970-01-01 00:00:00'")}`,
    words`x.b is ${one("true", "not true", "unknown")}`,
    words`x.k ${one("in", "not in")} (select y.k from u y where y.b)`,
    words`${one("", "not ")}exists (select 1 from u y where y.s = x.s)`,
    words`(${tie("all")} ${one("and", "or")} ${tie("all")})`,
    words`(not ${tie("all")})`,
  ),
})).all;
const value = one(
  "x.k",
  "x.f",
  "x.s",
  "x.b",
  "x.ts",
  "x.k + 1",
  "x.k * 2 - x.id",
  "x.f / 4",
  "upper(x.s)",
  "x.s || '-' || x.id",
  "coalesce(x.k, -1)",
  "case when x.b then x.k else 0 end",
  "date_trunc('day', x.ts)",
  "x.ts::date",
  "x.k::text",
  "length(x.s)",
);
const aggregate = one(
  "count(*)",
  "count(x.k)",
  "count(distinct x.s)",
  "sum(x.k)",
  "min(x.f)",
  "max(x.ts)",
  "bool_or(x.b)",
  "avg(x.f)",
  "max(x.s)",
  "sum(x.k) filter (where x.b)",
);
const table = one("t", "u");
const query: Text = fc.oneof(
  words`select x.id, ${value} as p, ${value} as q from ${table} x where ${condition}`,
  words`select x.id, ${value} as p from ${table} x order by x.s ${one("", "desc", "nulls first")}, x.id limit ${one("0", "1", "3", "100")} offset ${one("0", "1")}`,
  words`select ${aggregate} as p, ${aggregate} as q from ${table} x where ${condition}`,
  words`select x.s, x.b, ${aggregate} as p from ${table} x where ${condition} group by x.s, x.b having count(*) ${one("> 0", "> 1")}`,
  words`select distinct ${value} as p from ${table} x`,
  words`select x.id, y.id as other, x.s, y.k from t x ${one("join", "left join", "right join", "full join")} u y on x.s = y.s and x.k ${one("<", "=")} y.k`,
  words`select x.id, v.c, v.total from t x join v on v.s = x.s where ${condition}`,
  words`select v.s, v.b, v.c, v.total, v.last from v where v.c ${one("> 0", "> 1", "= 2")}`,
  words`select sum(v.c) as n, max(v.last) as last from v`,
  words`select x.id, rank() over (partition by x.b order by x.k ${one("", "desc")}) as r from ${table} x`,
  words`select x.s from t x ${one("union", "union all", "except", "intersect")} select y.s from u y`,
);

/** Rows as texts, numbers by their value; in their order if the query has one. */
async function answer(asked: Client, text: string): Promise<unknown> {
  const types = { getTypeParser: () => (given: unknown) => given };
  try {
    const { fields, rows } = await asked.query<(string | null)[]>({ text, rowMode: "array", types });
    const cell = (given: string | null) =>
      given !== null && /^-?\d+\.\d+$/.test(given) ? String(Number(given)) : given;
    const shown = rows.map((each) => JSON.stringify(each.map(cell)));
    return {
      names: fields.map(({ name }) => name),
      rows: text.includes("order by x.s") ? shown : shown.sort(),
    };
  } catch (error) {
    return { failed: (error as { code?: string }).code?.slice(0, 2), why: String(error) };
  }
}

test("random queries over tables and views give what a PostgreSQL with the same rows gives", async () => {
  let answered = 0;
  const property = fc.asyncProperty(
    batches,
    fc.array(query, { minLength: 1, maxLength: 4 }),
    async (given, asked) => {
      for (const { table: into, rows } of given) {
        for (const each of rows)
          await postgres.client.query(
            `INSERT INTO ${into} VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (id) DO UPDATE SET k = $2, f = $3, s = $4, b = $5, ts = $6`,
            Object.values(each),
          );
        await streams.pushEvents(into, rows);
      }
      for (const sql of asked) {
        const theirs = await answer(postgres.client, sql);
        assert.deepEqual(await answer(client, sql), theirs, sql);
        answered++;
      }
    },
  );
  await fc.assert(property, { numRuns: RUNS });
  assert.ok(answered >= RUNS);
});

test("a query reads all tables as of one moment, while rows come in", async () => {
  await streams.define("CREATE TABLE a (id bigint PRIMARY KEY, n bigint)");
  await streams.define("CREATE MATERIALIZED VIEW sums AS SELECT count(*) AS c, sum(n) AS total FROM a");
  let isOver = false;
  const pushing = (async () => {
    for (let id = 0; !isOver; id++) await streams.pushEvents("a", [{ id, n: 1 }]);
  })();
  for (let i = 0; i < 50; i++) {
    const { batches: found } = await streams.query("SELECT (SELECT count(*) FROM a) - sums.c AS d FROM sums");
    for (const batch of found) assert.equal(batch.cell(0, 0), 0);
  }
  isOver = true;
  await pushing;
});

test("a query that would take too much is refused, and so is one on what holds no rows", async () => {
  await streams.define("CREATE STREAM many (n bigint)");
  await streams.registerQuery("counted", "SELECT n, count(*) AS c FROM many GROUP BY n EMIT CHANGES");
  await streams.pushEvents(
    "many",
    Array.from({ length: 6000 }, (_, n) => ({ n })),
  );
  await refused(streams.query("SELECT count(*) FROM many x, many y WHERE x.n < y.n"), "HW-5512");
  await refused(streams.query("SELECT 1 / n AS q FROM many"), "HW-5511");
  await refused(streams.query("SELECT * FROM counted"), "HW-5410");
  await refused(streams.query("SELECT * FROM many WHERE n = $1", ["x"]), "HW-5104");
  const waiting = Array.from({ length: 150 }, () => streams.query("SELECT count(*) FROM many"));
  const ended = await Promise.allSettled(waiting);
  assert.equal(ended.filter(({ status }) => status === "fulfilled").length, 102);
});

test("a view is read by key and by range over texts as they stand in a URL", async () => {
  await streams.define("CREATE TABLE seen (who text, at timestamp, n numeric, PRIMARY KEY (who, at))");
  const at = (day: number) => `2025-01-0${day}T00:00:00Z`;
  await streams.pushEvents(
    "seen",
    [1, 2, 3].flatMap((day) => ["ada", "bob"].map((who) => ({ who, at: at(day), n: day }))),
  );
  const read = async (from: string[], to: string[], limit = 100) =>
    (await streams.viewLines("seen", { from, to, limit })).map((line) => {
      const { who, at: when } = JSON.parse(line) as { who: string; at: string };
      return `${who} ${when.slice(9, 10)}`;
    });
  assert.deepEqual(await read(["ada"], ["ada"]), ["ada 1", "ada 2", "ada 3"]);
  assert.deepEqual(await read(["ada", "2025-01-02"], ["bob", at(1)]), ["ada 2", "ada 3", "bob 1"]);
  assert.deepEqual(await read([], [], 2), ["ada 1", "ada 2"]);
  await refused(read(["ada", "yesterday"], []), "HW-5410");
  await refused(read(["ada", at(1), "more"], []), "HW-5410");
});
