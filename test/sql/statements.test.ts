import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseDefinition, parseQuery, resolveQuery, type SqlSchema, type Statement } from "#src/sql/index.js";
import { refused } from "../refused.js";

const BID: SqlSchema = {
  bid: [
    { name: "auction", type: "int8", nullable: false },
    { name: "price", type: "int8", nullable: false },
    { name: "bidder", type: "int8" },
    { name: "ts", type: "timestamp", nullable: false },
    { name: "url", type: "text" },
  ],
};

async function created(sql: string): Promise<Extract<Statement, { kind: "create stream" | "create table" }>> {
  const statement = await parseDefinition(sql);
  assert.ok(statement.kind === "create stream" || statement.kind === "create table", statement.kind);
  return statement;
}

/** `name type` for each column, with a question mark if it can be NULL. */
async function columns(sql: string, schema: SqlSchema = BID): Promise<string[]> {
  const { plan } = resolveQuery(await parseQuery(sql), sql, schema);
  return plan.columns.map(({ name, type, nullable }) => `${name} ${type}${nullable ? "?" : ""}`);
}

describe("definitions", () => {
  test("a stream has typed columns, perhaps a key, a watermark and options", async () => {
    const stream = await created(`
      CREATE STREAM bid (
        auction BIGINT NOT NULL, price NUMERIC, channel VARCHAR, ts TIMESTAMP(3),
        WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
      ) WITH (retention = '1 hour')`);
    assert.equal(stream.kind, "create stream");
    assert.equal(stream.name, "bid");
    assert.deepEqual(stream.columns, [
      { name: "auction", type: "int8", nullable: false },
      { name: "price", type: "numeric", nullable: true },
      { name: "channel", type: "text", nullable: true },
      { name: "ts", type: "timestamp", nullable: true },
    ]);
    assert.deepEqual(stream.watermark, { column: "ts", latenessMs: 5000 });
    assert.deepEqual(stream.options, { retention: "1 hour" });
  });

  test("a key is never NULL, and is named by a column or by the table", async () => {
    const one = await created("create table person (id int primary key, name text)");
    assert.deepEqual([one.kind, one.key, one.columns[0]?.nullable], ["create table", ["id"], false]);
    const two = await created(
      "create source s (a int, b int, watermark for t as t, t timestamptz, primary key (a, b))",
    );
    assert.deepEqual([two.kind, two.key, two.watermark?.latenessMs], ["create stream", ["a", "b"], 0]);
  });

  test("a materialized view is a query, and says when it gives results", async () => {
    const view = await parseDefinition("create materialized view v as select auction from bid emit changes");
    assert.ok(view.kind === "create view" && view.query.emit === "changes" && view.name === "v");
    const query = await parseDefinition("select auction from bid EMIT ON WINDOW CLOSE;");
    assert.ok(query.kind === "query" && query.query.emit === "on window close");
  });

  test("what is not supported is refused, with its place and what to write instead", async () => {
    for (const [sql, words] of [
      ["create view v as select 1", "MATERIALIZED VIEW"],
      ["create table t as select 1", "MATERIALIZED VIEW"],
      ["drop table t", "Only SELECT, CREATE STREAM"],
      ["create table t (a int check (a > 0))", "NOT NULL and PRIMARY KEY"],
      ["create table t (a money)", "no type money"],
      ["create stream s (a text, watermark for a as a)", "is a timestamp"],
      ["create stream s (a timestamp, watermark for b as b)", "no column b"],
      ["create stream s (a timestamp, watermark for a as a + interval '1 second')", "WATERMARK FOR ts AS"],
      ["create table t (a int, primary key (b))", "no column b"],
      ["create table t (a int, a text)", "two columns a"],
    ] as const) {
      await refused(parseDefinition(sql), "HW-5102", words, "at line 1, column ");
    }
  });
});

describe("windows in the spellings of other engines", () => {
  const flink = "select * from table(tumble(table bid, descriptor(ts), interval '10' second))";
  const risingwave = "select * from tumble(bid, ts, interval '10 seconds')";

  test("are the same windows", async () => {
    const plans = await Promise.all(
      [flink, risingwave].map(async (sql) => resolveQuery(await parseQuery(sql), sql, BID).plan),
    );
    const shape = (_: string, value: unknown) =>
      typeof value === "object" && value !== null && "span" in value ? { ...value, span: 0 } : value;
    const [one, other] = plans.map((plan) => JSON.stringify(plan, shape));
    assert.equal(one, other);
  });

  test("keep sessions apart by a key, hop, and begin at an offset", async () => {
    const windowOf = async (from: string) => {
      const sql = `select auction from ${from}`;
      const { plan } = resolveQuery(await parseQuery(sql), sql, BID);
      assert.ok(plan.kind === "project" && plan.input.kind === "window");
      const { window, sizeMs, slideMs, offsetMs, keys } = plan.input;
      return [window, sizeMs, slideMs, offsetMs, keys];
    };
    const session = "session(table bid partition by bidder, descriptor(ts), interval '10' second)";
    assert.deepEqual(await windowOf(session), ["session", 10_000, 10_000, 0, [2]]);
    const hop = "hop(bid, ts, interval '2' second, interval '10' second)";
    assert.deepEqual(await windowOf(hop), ["hop", 10_000, 2000, 0, []]);
    const shifted = "tumble(bid, ts, interval '1 day', interval '1 hour')";
    assert.deepEqual(await windowOf(shifted), ["tumble", 86_400_000, 86_400_000, 3_600_000, []]);
  });
});

describe("windows in GROUP BY", () => {
  test("are those of the table that FROM would have had, if nothing is filtered", async () => {
    const shape = (_: string, value: unknown) =>
      typeof value === "object" && value !== null && "span" in value ? { ...value, span: 0 } : value;
    const [one, other] = await Promise.all(
      [
        "select hop_start(ts, interval '2' second, interval '10' second), count(*) from bid group by hop(ts, interval '2' second, interval '10' second)",
        "select window_start, count(*) from hop(bid, ts, interval '2' second, interval '10' second) group by window_start, window_end",
      ].map(async (sql) => resolveQuery(await parseQuery(sql), sql, BID).plan),
    );
    assert.equal(JSON.stringify(one, shape), JSON.stringify(other, shape));
  });

  test("are refused where they make no sense, with what to write", async () => {
    const hour = "interval '1' hour";
    for (const [sql, words] of [
      [`select tumble_start(ts, ${hour}) from bid group by url`, "is about TUMBLE(…) in GROUP BY"],
      [`select hop_end(ts, ${hour}, ${hour}) from bid group by tumble(ts, ${hour})`, "is about HOP(…)"],
      [`select tumble_end(ts, interval '2' hour) from bid group by tumble(ts, ${hour})`, "same arguments"],
      [`select tumble_proctime(ts, ${hour}) from bid group by tumble(ts, ${hour})`, "take TUMBLE_END(…)"],
      [`select tumble(ts, ${hour}) from bid`, "stands in FROM or in GROUP BY"],
      [`select 1 from bid group by tumble(ts, ${hour}), session(ts, ${hour})`, "takes one window"],
      [`select 1 from bid group by tumble(ts)`, "In GROUP BY, TUMBLE takes its time column and the size"],
      [`select 1 from cumulate(bid, ts, interval '7' hour, interval '1' day)`, "a multiple of its step"],
      [
        `select 1 from tumble(data => table bid, timecol => descriptor(ts), gap => ${hour})`,
        "DATA, TIMECOL, SIZE",
      ],
    ] as const)
      await refused(columns(sql), "HW-5102", words, "at line 1, column ");
    await refused(columns(`select 1 from bid group by tumble(url, ${hour})`), "HW-5104", "url is no time");
  });
});

describe("frames of OVER", () => {
  test("have distances that fit to the order", async () => {
    const over = (order: string, frame: string) =>
      columns(`select count(*) over (order by ${order} ${frame}) as n from bid`);
    assert.deepEqual(await over("ts", "range interval '1 hour' preceding"), ["n int8"]);
    for (const [order, frame, words] of [
      ["ts", "range 5 preceding", "RANGE with a number does not fit to ORDER BY a value of type timestamp"],
      ["price", "range interval '1 hour' preceding", "does not fit to ORDER BY a value of type bigint"],
      ["price", "range 1.5 preceding", "does not fit to ORDER BY a value of type bigint"],
      ["price, ts", "range 5 preceding", "ORDER BY of one expression"],
    ] as const)
      await refused(over(order, frame), "HW-5104", words);
    for (const [frame, words] of [
      ["rows between 1 preceding and current row exclude ties", "EXCLUDE is not supported"],
      ["rows 1.5 preceding", "is a whole number"],
      ["range price preceding", "is a constant that is not negative"],
    ] as const)
      await refused(over("price", frame), "HW-5102", words);
  });
});

describe("a plan knows its types", () => {
  test("of columns, and which of them can be NULL", async () => {
    assert.deepEqual(
      await columns("select auction, price * 0.908 as euro, bidder, price / 2.0 + 1 as h from bid"),
      ["auction int8", "euro numeric", "bidder int8?", "h numeric"],
    );
    assert.deepEqual(
      await columns(
        "select window_start, count(*) as n, avg(price) as p, max(url) as u, sum(price) filter (where price > 5) as f from tumble(bid, ts, interval '1 hour') group by window_start",
      ),
      ["window_start timestamp", "n int8", "p numeric", "u text?", "f numeric?"],
    );
    assert.deepEqual(
      await columns("select a.auction, b.price from bid a left join bid b on a.auction = b.bidder"),
      ["auction int8", "price int8?"],
    );
    assert.deepEqual(
      await columns(
        "select row_number() over (partition by auction order by price desc) as rank, coalesce(bidder, 0) as c from bid",
      ),
      ["rank int8", "c int8"],
    );
  });

  test("of parameters, from what they are compared with", async () => {
    const sql = "select price from bid where auction = $1 and ts > $2 and url like $3";
    const { parameters } = resolveQuery(await parseQuery(sql), sql, BID);
    assert.deepEqual(parameters, ["int8", "timestamp", "text"]);
  });

  test("with every conversion written out, and can be stored as JSON", async () => {
    const sql = "select price + 1.5 as p from bid where price > auction and ts < '2024-01-01' and url = 'x'";
    const { plan } = resolveQuery(await parseQuery(sql), sql, BID);
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
    assert.ok(plan.kind === "project" && plan.input.kind === "filter");
    const [sum] = plan.outputs;
    assert.ok(sum?.expression.kind === "operator");
    assert.deepEqual(
      sum.expression.operands.map(({ kind, type }) => `${kind} ${type}`),
      ["cast numeric", "constant numeric"],
    );
  });

  test("or says nothing about columns whose types are not declared", async () => {
    const untyped = { bid: ["auction", "price", "bidder", "ts", "url"] };
    assert.deepEqual(
      await columns(
        "select price + 1 as p, price > 1.5 as b, count(*) as n from bid group by price",
        untyped,
      ),
      ["p untyped?", "b bool?", "n int8"],
    );
  });

  test("so what has no sense is refused", async () => {
    for (const [sql, words] of [
      ["select url + 1 from bid", "no text + integer"],
      ["select price from bid where url", "WHERE is a condition"],
      ["select price from bid where ts > 'soon'", "form 2025-12-31 23:59:59"],
      ["select ts::bigint from bid", "cannot be cast to bigint"],
      [
        "select case when price > 1 then url else price end from bid",
        "CASE has values of the types text and bigint",
      ],
      ["select sum(url) from bid", "no sum(text)"],
      ["select price from bid union select url from bid", "UNION has values"],
    ] as const) {
      await refused(columns(sql), "HW-5104", words);
    }
  });
});
