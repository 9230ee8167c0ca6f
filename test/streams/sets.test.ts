import { test } from "node:test";
import { type Cell, column, type Schema } from "#src/streams/columns/index.js";
import fc from "../properties.js";
import { checkStanding, words } from "./standing-sql.js";

const SCHEMA: Schema = [column("a", "int"), column("b", "int", false), column("d", "numeric", true, 1)];
const row = fc.tuple(
  fc.constantFrom<Cell>(0, 1, 2, null),
  fc.constantFrom<Cell>(0, 1, 2),
  fc.constantFrom<Cell>(0, 15, 2n ** 60n, null),
);

const operation = fc.constantFrom("except", "except all", "intersect", "intersect all", "union", "union all");
const source = fc.constantFrom(
  "select a, d from r",
  "select a, d from s",
  "select b as a, d from s where a > 0",
  "select a, max(d) from r group by a",
  "select a, 2.25 from s",
  "values (1, 1.5), (2, null), (1, 1.5)",
  "select 1, 1.50",
);
const sets = fc.oneof(
  words`(${source}) ${operation} (${source})`,
  words`((${source}) ${operation} (${source})) ${operation} (${source})`,
  words`select a, count(*) as n from ((${source}) ${operation} (${source})) x (a, d) group by a`,
  words`select r.a, v.n from r join (values (0, 'zero'), (1, 'one')) v (k, n) on v.k = r.${fc.constantFrom("a", "b")}`,
  words`select v.k, r.d from (values (1), (2), (null)) v (k) left join r on v.k = r.a`,
);

const aggregate = fc.constantFrom(
  ...["count(*)", "max(s.d)", "count(s.a) + 1", "coalesce(sum(s.b), -1)", "min(s.b) + r.b", "sum(s.d)"],
);
const correlated = fc.constantFrom(
  "s.a = r.a",
  "s.a = r.b and s.b > 0",
  "r.a = s.a and s.b = r.b",
  "s.b > 0",
  "s.a + 1 = r.b",
);
const scalars = fc.oneof(
  words`select a, b, (select ${aggregate} from s where ${correlated}) as p from r`,
  words`select a, d from r where b <= (select ${aggregate} from s where ${correlated})`,
  words`select a, (select count(*) from s where s.a = r.a) as p, (select max(s.d) from s where s.b = r.b) as q from r`,
);

for (const kind of ["stream", "changelog"] as const) {
  const tables = { r: { schema: SCHEMA, row, kind }, s: { schema: SCHEMA, row, kind } };
  test(`UNION, EXCEPT, INTERSECT and VALUES over a ${kind} answer what the evaluator answers, after every round`, async () => {
    await checkStanding(sets, tables, 300);
  });
  test(`subqueries in the place of values over a ${kind} answer what the evaluator answers, after every round`, async () => {
    await checkStanding(scalars, tables, 200);
  });
}
