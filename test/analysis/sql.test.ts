import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DeriveOptions, derivePaths, deriveQuery } from "headwater/analysis";
import { refused } from "../refused.js";

const TABLES = {
  clicks: ["id", "campaign", "ts", "cost"],
  ads: ["id", "name", "budget"],
  r: ["x", "y"],
  s: ["x", "y"],
};

/** `clicks OW[id] minds`, one line for each input. */
async function paths(sql: string, options: DeriveOptions = {}): Promise<string[]> {
  const { paths } = await deriveQuery(sql, TABLES, options);
  return paths.map(({ from, annotation, gate, repetition }) => {
    const subscript = annotation.startsWith("O") ? `[${gate === "*" ? "*" : gate.join(", ")}]` : "";
    return `${from} ${annotation}${subscript} ${repetition}`;
  });
}

async function check(sql: string, expected: readonly string[], options: DeriveOptions = {}): Promise<void> {
  assert.deepEqual(await paths(sql, options), expected, sql);
}

describe("selecting, projecting, joining and uniting rows is confluent", () => {
  test("a row that is looked at by itself needs no state, and is answered twice if it comes twice", async () => {
    await check("select id, cost * 2 from clicks where cost > 5", ["clicks CR passes"]);
    await check("select id from clicks union all select id from ads", ["clicks CR passes", "ads CR passes"]);
    await check("with c as (select id from clicks) select id from c", ["clicks CR passes"]);
  });

  test("a join keeps the rows of both sides", async () => {
    const expected = ["clicks CW passes", "ads CW passes"];
    await check("select name from clicks join ads on clicks.id = ads.id", expected);
    await check("select name from clicks join ads using (id)", expected);
    await check("select name from clicks, ads where cost > budget", expected);
  });

  test("IN and EXISTS keep both sides and do not mind what comes twice on the right", async () => {
    const expected = ["clicks CW passes", "ads CW absorbs"];
    await check("select id from clicks where id in (select id from ads)", expected);
    await check("select id from clicks c where exists (select 1 from ads where ads.id = c.id)", expected);
  });

  test("DISTINCT and UNION remember what was there and absorb what comes twice", async () => {
    await check("select distinct id from clicks", ["clicks CW absorbs"]);
    await check("select id from clicks union select id from ads", ["clicks CW absorbs", "ads CW absorbs"]);
    await check("select id from clicks group by id", ["clicks CW absorbs"]);
  });
});

describe("what takes answers back is not confluent, and its gate is where rows meet", () => {
  test("an aggregate that is part of the answer; the gate is its grouping columns", async () => {
    await check("select id, count(*) from clicks group by id", ["clicks OW[id] minds"]);
    await check("select id, max(cost) from clicks group by id, campaign", [
      "clicks OW[id, campaign] absorbs",
    ]);
    await check("select avg(cost) from clicks", ["clicks OW[] minds"]);
  });

  test("an antijoin; the gate is the columns of its theta clause, for the side that is looked up", async () => {
    const footnote5 = "select * from r where x not in (select x from s where y = 'Yahoo!')";
    await check(footnote5, ["r CW passes", "s OW[x, y] absorbs"]);
    await check("select * from r where not exists (select 1 from s where s.x = r.x)", [
      "r CW passes",
      "s OW[x] absorbs",
    ]);
  });

  test("a range says nothing about single values, so it is no gate", async () => {
    await check("select * from r where not exists (select 1 from s where s.x < r.x)", [
      "r CW passes",
      "s OW[] absorbs",
    ]);
  });

  test("an outer join, for the side whose match can come later", async () => {
    await check("select r.x, s.y from r left join s on r.x = s.x", ["r CW passes", "s OW[x] passes"]);
    await check("select r.x from r left join s on r.x = s.x where s.x is null", [
      "r CW passes",
      "s OW[x] passes",
    ]);
  });

  test("columns of the outer join's right side are NULL in rows of all parts, so they cut none", async () => {
    await check("select s.x, count(*) from r left join s on r.x = s.x group by s.x", [
      "r OW[] minds",
      "s OW[] minds",
    ]);
    await check("select r.x, count(*) from r left join s on r.x = s.x group by r.x", [
      "r OW[x] minds",
      "s OW[x] minds",
    ]);
  });

  test("the best n of all rows", async () => {
    await check("select id from clicks order by cost desc limit 10", ["clicks OW[] minds"]);
    await check("select distinct id from clicks order by id limit 10", ["clicks OW[] absorbs"]);
  });

  test("DISTINCT over a value that changes", async () => {
    await check("select distinct c from (select id, count(*) as c from clicks group by id) t", [
      "clicks OW[] minds",
    ]);
  });

  test("an antijoin of an antijoin gives back what was taken", async () => {
    await check("select x from r where x not in (select x from s where x not in (select id from ads))", [
      "r CW passes",
      "s OW[x] absorbs",
      "ads CW absorbs",
    ]);
  });

  test("a NULL that comes before a value can take back what NOT EXISTS gave", async () => {
    const sql = (aggregate: string) =>
      `select x from r where not exists (select 1 from s where (select ${aggregate} from ads) < 2)`;
    assert.equal((await paths(sql("max(budget)")))[2], "ads OW[] absorbs");
    assert.equal((await paths(sql("count(*)")))[2], "ads CW minds");
    const falling = sql("min(budget)").replace("< 2", "> 2");
    assert.equal((await paths(falling))[2], "ads OW[] absorbs");
  });
});

describe("gates are columns of the input, followed through the query", () => {
  test("a column under another name is the same column", async () => {
    await check("select i, count(*) from (select id as i, cost from clicks) c group by i", [
      "clicks OW[id] minds",
    ]);
    await check("with c(i) as (select id from clicks) select i, count(*) from c group by i", [
      "clicks OW[id] minds",
    ]);
  });

  test("columns that a join equates tell both sides' parts apart", async () => {
    await check("select a.id, count(*) from clicks c join ads a on c.id = a.id group by a.id", [
      "clicks OW[id] minds",
      "ads OW[id] minds",
    ]);
    await check("select a.name, count(*) from clicks c join ads a on c.id = a.id group by a.name", [
      "clicks OW[] minds",
      "ads OW[name] minds",
    ]);
  });

  test("rows of one table that meet must be of one part, whichever of its uses minds", async () => {
    const half = "select x / 2 as h from r group by x / 2";
    await check(`select h from (${half}) g where h not in (select x from r)`, ["r OW[] absorbs"]);
    await check("select x from r where x not in (select y from r)", ["r OW[] passes"]);
    await check("select a.x from r a left join r b on a.x = b.x group by a.x having count(b.y) = 0", [
      "r OW[x] minds",
    ]);
    // Rows that never meet need not agree.
    await check("select x, y from r union all select y, count(*) from r group by y", ["r OW[y] minds"]);
  });

  test("NOT IN of a NULL that the query makes itself depends on every row, so it has no gate", async () => {
    const joined = "select r.x, ads.id from r left join ads on r.x = ads.id";
    await check(`select x from (${joined}) j where j.id not in (select x from s)`, [
      "r CW passes",
      "ads OW[id] passes",
      "s OW[] absorbs",
    ]);
    await check(`select x from (${joined}) j where j.x not in (select x from s)`, [
      "r CW passes",
      "ads OW[id] passes",
      "s OW[x] absorbs",
    ]);
    await check("select x from r where x not in (select case when y > 1 then x end from s)", [
      "r CW passes",
      "s OW[] absorbs",
    ]);
  });

  test("a request waits for all rows that meet, not only for those that it names", async () => {
    const other = "select b.y from r a join r b on a.y = b.y where a.x = $1";
    await check(other, ["r CW passes", "request OR[] passes"]);
    const same = "select b.y from r a join r b on a.x = b.x where a.x = $1";
    await check(same, ["r CW passes", "request OR[x] passes"]);
  });

  test("of groups of groups, only the columns of both are left", async () => {
    await check(
      "select id, max(n) from (select id, campaign, count(*) as n from clicks group by id, campaign) t group by id",
      ["clicks OW[id] minds"],
    );
    await check("select n, count(*) from (select id, count(*) as n from clicks group by id) t group by n", [
      "clicks OW[] minds",
    ]);
  });

  test("a column that must equal a constant has one part that matters", async () => {
    await check("select id, count(*) from clicks where campaign = 'x' group by id", [
      "clicks OW[id, campaign] minds",
    ]);
  });

  test("what a subquery is compared with tells its parts apart only while it is kept", async () => {
    const grouped = (column: string) =>
      `select r.${column}, count(*) from r where not exists (select 1 from s where s.x = r.x) group by r.${column}`;
    await check(grouped("x"), ["r OW[x] minds", "s OW[x] absorbs"]);
    await check(grouped("y"), ["r OW[y] minds", "s OW[] absorbs"]);
  });

  test("a correlated subquery that stands for a value", async () => {
    await check("select id from ads a where (select count(*) from clicks c where c.id = a.id) < 100", [
      "ads CW passes",
      "clicks OW[id] minds",
    ]);
    await check("select id from ads a where (select count(*) from clicks c where c.id = a.id) > 100", [
      "ads CW passes",
      "clicks CW minds",
    ]);
  });

  test("an expression has the name of what it is made from, under whatever names it was written", async () => {
    const sql = (column: string) =>
      `select k / 2 as half from (select ${column} as k from clicks) c group by k / 2 having count(*) < 9`;
    await check(sql("cost"), ["clicks OW[cost / 2] minds"]);
    await check(sql("cost + 1"), ["clicks OW[(cost + 1) / 2] minds"]);
    await check(`${sql("cost")} union all ${sql("cost")}`, ["clicks OW[cost / 2] minds"]);
    await check(`${sql("cost")} union all ${sql("ts")}`, ["clicks OW[] minds"]);
  });

  test("an expression is an attribute of its own, with a dependency on what it is made from", async () => {
    const { paths, dependencies } = await deriveQuery(
      "select date_trunc('hour', ts), count(*) from clicks group by date_trunc('hour', ts)",
      TABLES,
    );
    assert.deepEqual(paths[0]?.gate, ["date_trunc('hour', ts)"]);
    assert.deepEqual(dependencies, [
      { from: ["ts"], to: ["date_trunc('hour', ts)"], injective: false, orderPreserving: true },
    ]);
  });
});

describe("thresholds on what only grows are confluent (section III.D)", () => {
  const having = (condition: string) => `select id from clicks group by id having ${condition}`;
  const nonNegative = { nonNegative: { clicks: ["cost"] } };

  test("more than a number, of a count, a maximum, or a sum without negative numbers", async () => {
    await check(having("count(*) > 1000"), ["clicks CW minds"]);
    await check(having("count(*) >= 1000"), ["clicks CW minds"]);
    await check(having("1000 < count(*)"), ["clicks CW minds"]);
    await check(having("max(cost) > 5"), ["clicks CW absorbs"]);
    await check(having("count(distinct campaign) > 3"), ["clicks CW absorbs"]);
    await check(having("sum(cost) > 5"), ["clicks CW minds"], nonNegative);
    await check(having("2 * sum(cost) + count(*) > 5"), ["clicks CW minds"], nonNegative);
  });

  test("less than a number, of a minimum", async () => {
    await check(having("min(cost) < 5"), ["clicks CW absorbs"]);
    await check(having("count(*) - min(cost) > 5"), ["clicks CW minds"]);
  });

  test("anything else can come and go", async () => {
    for (const condition of [
      "count(*) < 100",
      "count(*) = 100",
      "count(*) <> 100",
      "sum(cost) > 5",
      "avg(cost) > 5",
      "max(cost) < 5",
      "min(cost) > 5",
      "count(*) < min(cost)",
      "count(*) % 2 = 0",
      "max(cost) is null",
    ])
      assert.match((await paths(having(condition)))[0] ?? "", /^clicks OW\[id\]/, condition);
  });

  test("AND and OR keep it, NOT turns it around", async () => {
    await check(having("count(*) > 10 and max(cost) > 5"), ["clicks CW minds"]);
    await check(having("count(*) > 10 or min(cost) < 5"), ["clicks CW minds"]);
    await check(having("not (count(*) <= 10)"), ["clicks CW minds"]);
    await check(having("not (count(*) > 10)"), ["clicks OW[id] minds"]);
    await check(having("count(*) > 10 and count(*) < 20"), ["clicks OW[id] minds"]);
    await check(having("count(*) between 10 and 20"), ["clicks OW[id] minds"]);
  });

  test("not if the count itself is in the answer", async () => {
    await check("select id, count(*) from clicks group by id having count(*) > 1000", [
      "clicks OW[id] minds",
    ]);
  });

  test("also if the count was made in a subquery", async () => {
    const counted = "(select id, count(*) as n from clicks group by id) t";
    await check(`select id from ${counted} where n > 1000`, ["clicks CW minds"]);
    await check(`select id from ${counted} where n < 100`, ["clicks OW[id] minds"]);
  });
});

describe("a cast keeps the direction only if it keeps the order", () => {
  const types = {
    types: { clicks: { id: "number", cost: "number", campaign: "text", ts: "time" } },
  } as const;
  const having = (condition: string) => `select id from clicks group by id having ${condition}`;

  test("from a number or a time to another one", async () => {
    for (const condition of [
      "max(cost)::int > 5",
      "count(*)::numeric > 5",
      "max(ts)::date > '2025-01-01'::date",
    ])
      assert.match((await paths(having(condition), types))[0] ?? "", /^clicks CW/, condition);
  });

  test("not from a text, which is ordered otherwise, nor from a column of unknown type", async () => {
    for (const cast of [
      "max(campaign)::int > 5",
      "max(campaign)::numeric > 5",
      "min(campaign)::float8 < 5",
    ]) {
      assert.match((await paths(having(cast), types))[0] ?? "", /^clicks OW\[id\]/, cast);
      assert.match((await paths(having(cast)))[0] ?? "", /^clicks OW\[id\]/, cast);
    }
    await check(
      "select id from (select id, max(campaign) as m from clicks group by id) t where m::int > 5",
      ["clicks OW[id] absorbs"],
      types,
    );
  });

  test("nor between times of day and instants, which part ways when clocks are set back", async () => {
    const instants = { types: { clicks: { ts: "instant" } } } as const;
    assert.match(
      (await paths(having("max(ts)::timestamp > '2025-01-01'::timestamp"), instants))[0] ?? "",
      /OW/,
    );
    const { dependencies } = await deriveQuery(
      "select ts::date, count(*) from clicks group by ts::date",
      TABLES,
      types,
    );
    assert.equal(dependencies[0]?.orderPreserving, true);
  });
});

describe("CASE", () => {
  test("has a name of its own in a gate, from CASE to its END", async () => {
    const kind = (limit: number) =>
      `case when cost > ${limit} then case when id > 1 then 2 else 1 end else 0 end`;
    await check(`select ${kind(5)} as k, count(*) from clicks group by ${kind(5)}`, [
      `clicks OW[${kind(5)}] minds`,
    ]);
    const both = [5, 7].map(
      (limit) => `select ${kind(limit)} as k from clicks group by ${kind(limit)} having count(*) < 9`,
    );
    await check(both.join(" union all "), ["clicks OW[] minds"]);
  });
});

describe("time windows", () => {
  test("are gates, and grow with the time: a watermark seals them", async () => {
    for (const from of [
      "tumble(clicks, ts, interval '1 hour')",
      "TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
      "hop(clicks, ts, interval '5 minutes', interval '1 hour')",
    ]) {
      const { paths, dependencies, output } = await deriveQuery(
        `select window_start, id, count(*) as n from ${from} group by window_start, id`,
        TABLES,
      );
      assert.deepEqual(paths[0]?.gate, ["id", "window_start"]);
      assert.deepEqual(dependencies, [
        { from: ["ts"], to: ["window_start"], injective: false, orderPreserving: true },
      ]);
      assert.deepEqual(output[0], {
        name: "window_start",
        lineage: [{ table: "clicks", column: "ts", injective: false, orderPreserving: true }],
      });
    }
  });

  test("of two sizes are two attributes", async () => {
    const counts = (size: string) =>
      `select window_start as w from tumble(clicks, ts, interval '${size}') group by window_start having count(*) < 9`;
    await check(`${counts("1 hour")} union all ${counts("1 hour")}`, ["clicks OW[window_start] minds"]);
    await check(`${counts("1 hour")} union all ${counts("1 day")}`, ["clicks OW[] minds"]);
  });

  test("over a time that was turned around do not grow with the column", async () => {
    const { dependencies } = await deriveQuery(
      "with c as (select -ts as t from clicks) select window_start, count(*) from tumble(c, t, interval '1 hour') group by 1",
      TABLES,
    );
    assert.deepEqual(dependencies, [
      { from: ["ts"], to: ["window_start"], injective: false, orderPreserving: false },
    ]);
  });

  test("alone change nothing, but a session depends on the rows around it", async () => {
    await check("select window_start, id from tumble(clicks, ts, interval '1 hour')", ["clicks CR passes"]);
    await check("select window_start, id from session(clicks, ts, id, interval '1 hour')", [
      "clicks OW[id, window_start, window_end] passes",
    ]);
  });
});

describe("lineage and requests", () => {
  test("of columns: identity is injective, functions need not be", async () => {
    const { output, persistent } = await deriveQuery(
      "select id, -cost as refund, floor(ts / 1000) as second, campaign || '!' as loud from clicks",
      TABLES,
    );
    const from = (column: string, injective: boolean, orderPreserving: boolean) => [
      { table: "clicks", column, injective, orderPreserving },
    ];
    assert.deepEqual(output, [
      { name: "id", lineage: from("id", true, true) },
      { name: "refund", lineage: from("cost", true, false) },
      { name: "second", lineage: from("ts", false, true) },
      { name: "loud", lineage: from("campaign", false, false) },
    ]);
    assert.equal(persistent, false);
  });

  test("a parameter comes with a request: rows are stored, and the request races with them", async () => {
    await check("select count(*) from clicks where id = $1", ["clicks CW minds", "request OR[id] passes"]);
    await check("select cost from clicks where id = $1", ["clicks CW passes", "request OR[id] passes"]);
  });

  test("a request is answered once: with the rows that have arrived by then, also where nothing is taken back", async () => {
    const cost = "select cost from clicks where id = $1";
    await check(cost, ["clicks CW passes", "request OR[id] passes"]);
    await check(cost, ["clicks CW passes", "request CR passes"], { openRequests: true });
    const seen = "select id from clicks group by id having count(*) > 1000";
    await check(seen, ["clicks CW minds", "request OR[id] passes"], { continuous: false });
    await check(seen, ["clicks CW minds", "request CR passes"], { continuous: false, openRequests: true });
  });

  test("a table of requests is answered row by row", async () => {
    const sql = "select ads.id from ads join clicks c on c.id = ads.id group by ads.id having count(*) < 100";
    await check(sql, ["clicks CW minds", "ads OR[id] passes"], { request: "ads" });
  });

  test("a request that races with two tables is told which attributes of which", async () => {
    const sql = "select (select count(*) from r where x = $1), (select count(*) from s where y = $1)";
    const { paths } = await deriveQuery(sql, TABLES);
    assert.deepEqual(paths[2]?.races, [
      { from: "r", gate: ["x"] },
      { from: "s", gate: ["y"] },
    ]);
    // A seal on x would not do for s, which has an x too; nor one on y for r.
    assert.deepEqual(paths[2]?.gate, []);
  });

  test("an input that the query does not read is not taken for the one that asks", async () => {
    const sql = "select id from clicks group by id having count(*) < 100";
    const inputs = { clicks: ["id"], click_requests: ["id"] };
    await refused(derivePaths(sql, inputs, "out"), "HW-5105");
    const { paths: derived } = await derivePaths(sql, inputs, "out", { request: "click_requests" });
    assert.deepEqual(
      derived.map(({ from, annotation }) => `${from} ${annotation}`),
      ["clicks CW", "click_requests OR"],
    );
  });

  test("every annotation says why, and from which words", async () => {
    const sql = "select id\nfrom clicks\ngroup by id\nhaving count(*) < 100";
    const { paths } = await deriveQuery(sql, TABLES);
    assert.deepEqual(paths[0]?.why, [
      {
        text: "count(*) < 100: it can be true first and false later",
        position: { line: 4, column: 8, endLine: 4, endColumn: 22 },
      },
    ]);
    const shown = await deriveQuery("select 'ä€😀', count(*) from clicks", TABLES);
    assert.deepEqual(shown.paths[0]?.why[0]?.position, { line: 1, column: 15, endLine: 1, endColumn: 23 });
  });
});
