import { test } from "node:test";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import fc from "../properties.js";
import { checkStanding, words } from "./standing-sql.js";

const SCHEMA: Schema = [column("k", "int", false), column("d", "numeric", true, 2)];

/** Decimals on both sides of the limit of exact doubles, few enough to meet. */
const LARGE = [2n ** 53n, 2n ** 53n + 1n, 10n ** 20n, -(10n ** 20n), 10n ** 20n + 1n];
const row = fc.tuple(
  fc.constantFrom<Cell>(0, 1),
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Cell>(...LARGE) },
    fc.constantFrom<Cell>(100, 250, 2 ** 53 - 1, -50, null),
  ),
);

const aggregate = fc.constantFrom(
  ...["count(distinct d)", "sum(distinct d)", "round(avg(distinct d))", "sum(d)", "round(avg(d))"],
  ...["min(d)", "max(d)", "count(d)", "max(d) filter (where d < 5000)"],
);
const sql = fc.oneof(
  words`select k, ${aggregate} as p, ${aggregate} as q from r group by k`,
  words`select ${aggregate} as p, ${aggregate} as q from r`,
  words`select d, count(*) as n, ${aggregate} as p from r group by d`,
  words`select ${aggregate} as p from (select k, ${fc.constantFrom("max", "min", "sum")}(d) as d from r group by k) x`,
);

for (const kind of ["stream", "changelog"] as const)
  test(`aggregates over a ${kind} keep every digit of decimals that no double holds`, async () => {
    await checkStanding(sql, { r: { schema: SCHEMA, row, kind } }, 400);
  });
