import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HeadwaterError } from "headwater";
import { deriveQuery } from "headwater/analysis";
import fc from "../properties.js";

const TABLES = { clicks: ["id", "ts", "userId"], ads: ["id", "name"] };

async function refused(sql: string): Promise<{ code: string; message: string }> {
  const error = await deriveQuery(sql, TABLES).then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof HeadwaterError, `${sql}: ${error}`);
  return { code: error.code, message: error.message };
}

async function check(sql: string, code: string, place: string, words: RegExp): Promise<void> {
  const { code: found, message } = await refused(sql);
  assert.equal(found, code, `${sql}\n${message}`);
  const [, line, column] = /at line (\d+), column (\d+)/.exec(message) ?? [];
  const mark = message.split("\n").at(-1) ?? "";
  const shown = message.split("\n").at(-2) ?? "";
  const start = mark.indexOf("^");
  const marked = [...shown].slice(start, start + [...mark.slice(start)].length).join("");
  assert.equal(`${line}:${column} ${marked}`, place, `${sql}\n${message}`);
  assert.match(message, words, sql);
}

describe("what cannot be understood is refused, with its place", () => {
  test("text that is no SQL", async () => {
    await check("select id frm clicks x", "HW-5101", "1:15 clicks", /syntax error at or near "clicks"/);
    await check("select 'ä€😀' fro x ,, y", "HW-5101", "1:18 x", /syntax error/);
    await check("select id\nfrom clicks\n  wher id = 1", "HW-5101", "3:8 id", /syntax error/);
    await check("select 'open", "HW-5101", "1:8 '", /unterminated/);
    await check("select id from clicks group window", "HW-5101", "1:29 window", /near "window"/);
    await check("select id from clicks \0 where", "HW-5101", "1:23 \0", /NUL/);
    for (const empty of ["", "  \n", ";", "-- nothing"]) assert.equal((await refused(empty)).code, "HW-5101");
  });

  test("SQL that is not supported", async () => {
    await check("select rank() over () from clicks", "HW-5102", "1:8 rank()", /needs an ORDER BY in OVER/);
    await check(
      "select string_agg(name, ',') from ads",
      "HW-5102",
      "1:8 string_agg(name, ',')",
      /ORDER BY inside/,
    );
    await check("select id from clicks limit 3", "HW-5102", "1:23 limit 3", /ORDER BY/);
    await check("select now() from clicks", "HW-5102", "1:8 now()", /not a function of the rows/);
    await check(
      "select current_timestamp from clicks",
      "HW-5102",
      "1:8 current_timestamp",
      /time of asking/i,
    );
    await check("select md5(name) from ads", "HW-5102", "1:8 md5(name)", /there are count, sum/);
    await check(
      "select name from clicks full join ads using (id)",
      "HW-5102",
      "1:18 clicks full join ads",
      /write ON/,
    );
    await check(
      "select (select id from ads) from clicks",
      "HW-5102",
      "1:8 (select id from ads)",
      /one aggregate/,
    );
    await check("select id from tumble(clicks, ts)", "HW-5102", "1:16 tumble(clicks, ts)", /TUMBLE takes/);
    await check("select 1; select 2", "HW-5102", "1:18 2", /one statement/);
    await check("select id from clicks order by id limit id", "HW-5102", "1:41 id", /LIMIT takes a number/);
    for (const sql of [
      "insert into clicks values (1)",
      "select distinct on (id) id from clicks",
      "select sum(id) over w from clicks window v as (order by id)",
      "select sum(id) over (w order by id) from clicks window w as (order by id)",
      "select sum(distinct id) over (order by id) from clicks",
      "select id from clicks where (id, ts) < (1, 2)",
      "select id from clicks for update",
      "with recursive q as (select 1) select * from q",
      "select id from clicks window w as (v order by id)",
      "select id from clicks where id > any (array[1])",
      "select name::varchar(3) from ads",
      "select id::numeric(5, 2) from ads",
      "select id from clicks group by rollup (id)",
      "select * from clicks natural join ads",
      "select * from clicks, lateral (select 1) x",
      "select id from clicks where ts > interval '1 month'",
      "select mine.count(*) from clicks",
      "select 1 operator(mine.+) 2",
    ])
      assert.equal((await refused(sql)).code, "HW-5102", sql);
  });

  test("names that lead nowhere, with the nearest that would", async () => {
    await check("select idd from clicks", "HW-5103", "1:8 idd", /Did you mean "id"\?/);
    const unused = "select id from clicks window w as";
    await check(`${unused} (order by idd)`, "HW-5103", "1:45 idd", /Did you mean "id"\?/);
    await check(`${unused} (partition by ads.id)`, "HW-5103", "1:49 ads.id", /no table ads in FROM/);
    await check("select id from click", "HW-5103", "1:16 click", /Did you mean "clicks"\?/);
    assert.equal((await refused("select id from public.clicks")).code, "HW-5103");
    await check("select c.name\nfrom clicks c", "HW-5103", "1:8 c.name", /no column c\.name/);
    await check("select id from clicks order by 2", "HW-5103", "1:32 2", /name or number/);
    await check("select x.id from clicks", "HW-5103", "1:8 x.id", /no table x in FROM/);
    await check("select userId from clicks", "HW-5103", "1:8 userId", /"userId": names with capital letters/);
    await check("select id from clicks, ads", "HW-5103", "1:8 id", /clicks\.id and ads\.id/);
    await check("select 1 from clicks, clicks", "HW-5103", "1:23 clicks", /alias/);
    await check("select toString from clicks", "HW-5103", "1:8 toString", /no column/);
    await check('select 1 from "constructor"', "HW-5103", '1:15 "constructor"', /no table/);
  });

  test("queries that make no sense", async () => {
    await check("select id, ts from clicks group by id", "HW-5104", "1:12 ts", /GROUP BY/);
    await check("select id from clicks where count(*) > 1", "HW-5104", "1:29 count(*)", /aggregate/);
    await check("select max(count(*)) from clicks", "HW-5104", "1:12 count(*)", /not inside another/);
    await check(
      "select id from clicks union select id, name from ads",
      "HW-5104",
      "1:23 union",
      /1 and 2 columns/,
    );
    await check(
      "select id from clicks where id in (select * from ads)",
      "HW-5104",
      "1:32 in (select * from ads)",
      /2 columns/,
    );
    await check("select id from clicks group by 3", "HW-5104", "1:32 3", /column number 3/);
  });

  test("queries that are nested without end or grow without end", async () => {
    const deep = `select ${"(".repeat(3000)}1${")".repeat(3000)} from clicks`;
    await deriveQuery(deep, TABLES); // parentheses alone are no depth
    const long = `select ${Array.from({ length: 5000 }, () => "id").join(" + ")} from clicks`;
    assert.equal((await refused(long)).code, "HW-5102");
    const longer = `select ${Array.from({ length: 30_000 }, () => "1").join("+")} from clicks`;
    assert.equal((await refused(longer)).code, "HW-5102");
    const doubled = ["q0 as (select 1 as a)"];
    for (let i = 1; i < 40; i++) doubled.push(`q${i} as (select x.a from q${i - 1} x, q${i - 1} y)`);
    assert.equal((await refused(`with ${doubled.join(", ")} select * from q39`)).code, "HW-5102");
    assert.equal((await refused(`select '${"x".repeat(200_000)}'`)).code, "HW-5102");
  });

  test("whatever is written, the answer is a derivation or an error of Headwater", async () => {
    const words =
      "select from where group by having order limit union all distinct join left on using in not exists and or null is " +
      "case when then else end with as tumble hop session table window interval '1 hour' ( ) ( ) , , . * + - = < > $1 1 0 'ä' " +
      'id ts clicks ads name "userId" count(*) max(id) count sum x y ; -- \n cast :: int [ ] {} \\ \u0000 😀';
    const word = fc.constantFrom(...words.split(" "));
    const text = fc.oneof(
      fc.array(word, { maxLength: 20 }).map((each) => each.join(" ")),
      fc.array(word, { maxLength: 12 }).map((each) => `select id from clicks ${each.join(" ")}`),
      fc.string({ unit: "binary", maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (sql) => {
        const outcome = await deriveQuery(sql, TABLES).catch((error: unknown) => error);
        assert.ok(
          !(outcome instanceof Error) || outcome instanceof HeadwaterError,
          `${JSON.stringify(sql)}: ${outcome}`,
        );
        if (outcome instanceof HeadwaterError) assert.notEqual(outcome.code, "HW-9001");
      }),
      { numRuns: 1000 },
    );
  });
});
