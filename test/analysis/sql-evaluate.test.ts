import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queryFunction } from "headwater/analysis";

const COLUMNS = { clicks: ["id", "ts"], ads: ["id", "name"] };
const DATA = {
  clicks: [
    { id: 1, ts: 0 },
    { id: 1, ts: 4 },
    { id: 2, ts: 5 },
    { id: null, ts: 11 },
  ],
  ads: [
    { id: 1, name: "one" },
    { id: 3, name: "three" },
  ],
};

async function check(sql: string, expected: unknown[][], parameters: readonly number[] = []): Promise<void> {
  const answer = await queryFunction(sql, COLUMNS);
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  assert.deepEqual(sorted(answer(DATA, parameters)), sorted(expected), sql);
}

describe("queries answer what SQL says", () => {
  test("joins, also with rows that match nothing", async () => {
    await check("select name, ts from clicks join ads using (id)", [
      ["one", 0],
      ["one", 4],
    ]);
    await check("select ads.id, ts from ads left join clicks c on c.id = ads.id and ts > 1", [
      [1, 4],
      [3, null],
    ]);
    await check("select * from ads a join ads b on a.id < b.id", [[1, "one", 3, "three"]]);
  });

  test("NULL is not known, and NOT IN with one is never true", async () => {
    await check("select id from ads where id not in (select id from clicks)", []);
    await check("select id from ads where id not in (select id from clicks where id is not null)", [[3]]);
    await check("select id from ads a where not exists (select 1 from clicks c where c.id = a.id)", [[3]]);
    await check("select id from clicks where id <> 1", [[2]]);
  });

  test("aggregates, with and without groups", async () => {
    await check("select id, count(*), max(ts) from clicks group by id", [
      [1, 2, 4],
      [2, 1, 5],
      [null, 1, 11],
    ]);
    await check("select count(*), count(id), count(distinct id), sum(ts), avg(ts) from clicks", [
      [4, 3, 2, 20, 5],
    ]);
    await check("select count(*), sum(ts), min(ts) from clicks where ts > 100", [[0, null, null]]);
    await check("select id from clicks group by id having count(*) > 1", [[1]]);
    await check("select ts / 5 as five, count(*) from clicks group by five", [
      [0, 2],
      [1, 1],
      [2, 1],
    ]);
  });

  test("the best n, with NULLs where PostgreSQL puts them", async () => {
    await check("select id from clicks order by id desc limit 1", [[null]]);
    await check("select id from clicks order by id limit 2 offset 1", [[1], [2]]);
    await check("select ts from clicks order by id nulls first, ts limit 1", [[11]]);
  });

  test("windows: fixed, overlapping, and sessions", async () => {
    const five = "interval '5 milliseconds'";
    await check(`select window_start, window_end, count(*) from tumble(clicks, ts, ${five}) group by 1, 2`, [
      [0, 5, 2],
      [5, 10, 1],
      [10, 15, 1],
    ]);
    await check(
      `select window_start from hop(clicks, ts, ${five}, interval '10 milliseconds') where id = 2`,
      [[5], [0]],
    );
    await check(`select ts, window_start, window_end from session(clicks, ts, ${five})`, [
      [0, 0, 10],
      [4, 0, 10],
      [5, 0, 10],
      [11, 11, 16],
    ]);
    await check(`select ts, window_start, window_end from session(clicks, ts, id, ${five}) where id = 2`, [
      [5, 5, 10],
    ]);
  });

  test("parameters, subqueries, WITH and UNION", async () => {
    await check("select ts from clicks where id = $1", [[5]], [2]);
    await check("select name, (select count(*) from clicks c where c.id = a.id) from ads a", [
      ["one", 2],
      ["three", 0],
    ]);
    await check("with c as (select distinct id from clicks) select a.id from c a join c b on a.id = b.id", [
      [1],
      [2],
    ]);
    await check("select id from ads union select id from clicks", [[1], [2], [3], [null]]);
    await check("select case when ts > 4 then 'late' else 'early' end from clicks where id is not null", [
      ["early"],
      ["early"],
      ["late"],
    ]);
  });
});
