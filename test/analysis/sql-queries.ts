import type { Scalar, Tables } from "#src/sql/index.js";
import fc from "../properties.js";

/** Random queries over three tables with the columns a and b; each part gives columns a and b again. */
export const COLUMNS = { r: ["a", "b"], s: ["a", "b"], t: ["a", "b"] } as const;
export type TableName = keyof typeof COLUMNS;
export const TABLES = Object.keys(COLUMNS) as TableName[];

/** Few values, so that rows often meet; NULL only where the test can do with it. */
export function tables(withNulls: boolean): fc.Arbitrary<Tables> {
  const nulls = withNulls ? [null] : [];
  const a: fc.Arbitrary<Scalar> = fc.constantFrom(0, 1, 2, ...nulls);
  const b: fc.Arbitrary<Scalar> = fc.constantFrom(-2, 0, 1, 2, 3, 10, ...nulls);
  const rows = fc.array(fc.record({ a, b }), { maxLength: 5 });
  return fc.record({ r: rows, s: rows, t: rows });
}

const comparison = fc.constantFrom("<", "<=", ">", ">=", "=", "<>");
const constant = fc.constantFrom("0", "1", "2", "3");
const not = fc.constantFrom("", "", "not ");
const aggregate = fc.constantFrom(
  "count(*)",
  "count(x.b)",
  "count(distinct x.b)",
  "sum(x.b)",
  "sum(abs(x.b))",
  "sum(1)",
  "min(x.b)",
  "max(x.b)",
  "avg(x.b)",
  "max(x.b) + count(*)",
  "greatest(max(x.b), 2)",
  "count(*) - min(x.b)",
  "-count(*)",
  "2 * count(*)",
  "max(x.b::text)::int",
  "min(x.b::text)::numeric",
  "max(x.b)::int",
  "max(x.b + 0)::int",
  "count(*)::numeric",
  "count(*) filter (where x.b > 1)",
  "max(x.b) filter (where x.b < 3)",
  "sum(abs(x.b)) filter (where x.b is distinct from 1)",
  "length(string_agg(x.b::text, ',' order by x.b))",
  "length(string_agg(distinct x.b::text, ',' order by x.b::text))",
  "(array_agg(x.b order by x.b))[1]",
);

function words(strings: TemplateStringsArray, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc
    .tuple(...parts)
    .map((each) => strings.reduce((text, string, i) => text + string + (each[i] ?? ""), ""));
}

const own = fc.constantFrom("a", "b");
const column = fc.constantFrom("x.a", "x.b");
const scalarExpression = fc.oneof(
  { weight: 4, arbitrary: column },
  words`${column} + ${constant}`,
  words`${column} / 2`,
  words`-${column}`,
  words`abs(${column} - 1)`,
  words`coalesce(${column}, 0)`,
  words`case when ${column} > 1 then ${column} else 0 end`,
  words`case ${column} when 1 then 2 when 2 then ${column} end`,
  words`nullif(${column}, ${constant})`,
  words`greatest(x.a, x.b)`,
  constant,
);

function condition(depth: number): fc.Arbitrary<string> {
  const simple = fc.oneof(
    words`${column} ${comparison} ${constant}`,
    words`x.a ${comparison} x.b`,
    words`${column} is null`,
    words`${column} in (1, 2)`,
    words`(x.a, x.b) in ((1, 2), (0, 1))`,
    words`${column} is ${not}distinct from ${constant}`,
    words`(x.a > x.b) is ${not}true`,
    words`${column}::text ${not}${fc.constantFrom("like", "ilike")} '1%'`,
  );
  if (depth === 0) return simple;
  const inner = relation(depth - 1);
  const nested = fc.oneof(
    words`${column} ${not}in (select y.${fc.constantFrom("a", "b")} from ${inner} y)`,
    words`${column} ${not}in (select y.a from ${inner} y where y.b ${comparison} ${constant})`,
    words`(x.a, x.b) ${not}in (select y.a, y.b from ${inner} y)`,
    words`(x.b, x.a) ${not}in (select y.a, y.a from ${inner} y)`,
    words`${not}exists (select 1 from ${inner} y where y.a = x.a)`,
    words`${not}exists (select 1 from ${inner} y where y.a = x.a and y.b ${comparison} x.b)`,
    words`${not}exists (select y.a from ${inner} y where y.b = x.a group by y.a having count(*) ${comparison} ${constant})`,
    words`(select ${fc.constantFrom("count(*)", "max(y.b)", "min(y.a)", "sum(abs(y.b))")} from ${inner} y where y.a = x.b) ${comparison} ${constant}`,
    words`${column} ${comparison} ${fc.constantFrom("any", "all", "some")} (select y.a from ${inner} y${fc.constantFrom("", " where y.b = x.b", " where y.b < x.a")})`,
    words`${column} ${not}in (select y.a + x.b from ${inner} y where y.b = x.a)`,
    words`${not}exists (select 1 from ${inner} y where y.a = x.a union all select 1 from ${inner} y where y.b ${comparison} x.b)`,
    words`(select y.b from ${inner} y where ${fc.constantFrom("y.a = x.a", "y.a > x.b")} order by y.b, y.a limit 1) ${comparison} ${constant}`,
    words`(select y.b from ${inner} y where y.a = x.a) is ${not}null`,
    words`(select count(*) from ${inner} y where y.a < x.b) ${comparison} ${constant}`,
    words`${not}((select sum(y.b) from ${inner} y) ${comparison} ${constant})`,
  );
  return fc.oneof(
    { weight: 2, arbitrary: simple },
    { weight: 3, arbitrary: nested },
    words`(${nested} ${fc.constantFrom("and", "or")} ${simple})`,
    words`not (${nested} ${fc.constantFrom("and", "or")} ${simple})`,
  );
}

const having = fc.oneof(
  words`having ${aggregate} ${comparison} ${constant}`,
  words`having not (${aggregate} ${comparison} ${constant})`,
  words`having ${aggregate} ${comparison} ${constant} ${fc.constantFrom("and", "or")} ${aggregate} ${comparison} ${constant}`,
  fc.constant(""),
);

export function relation(depth: number): fc.Arbitrary<string> {
  const table = fc.constantFrom<string>(...TABLES);
  const width = fc.constantFrom("interval '2 milliseconds'", "interval '3 milliseconds'");
  if (depth === 0) return words`(select x.a, x.b from ${table} x)`;
  const input = relation(depth - 1);
  const other = relation(Math.max(0, depth - 2));
  const filter = condition(depth - 1);
  return fc.oneof(
    words`(select x.a, x.b from ${input} x where ${filter})`,
    words`(select x.a, x.b from ${input} x where ${filter})`,
    words`(select ${scalarExpression} as a, ${scalarExpression} as b from ${input} x)`,
    words`(select x.a, y.b from ${input} x join ${other} y on x.a = y.a)`,
    words`(select x.a, y.b from ${input} x, ${other} y where x.b ${comparison} y.b)`,
    words`(select ${fc.constantFrom("x.a", "y.a")} as a, ${fc.constantFrom("x.b", "y.b")} as b from ${input} x left join ${other} y on x.a = y.a)`,
    words`(select x.a, y.b from ${input} x left join ${other} y on x.a = y.a and y.b ${comparison} ${constant})`,
    words`(select ${fc.constantFrom("x.a", "y.a", "coalesce(x.a, y.a)")} as a, ${fc.constantFrom("x.b", "y.b")} as b from ${input} x ${fc.constantFrom("right", "full")} join ${other} y on x.${own} = y.${own})`,
    words`(select y.a, x.b from ${input} x ${fc.constantFrom("right", "full")} join ${other} y on x.a = y.a and y.b ${comparison} ${constant})`,
    words`(select x.a, x.b from ${input} x ${fc.constantFrom("except", "except all", "intersect", "intersect all")} select y.${own}, y.b from ${other} y)`,
    words`(select x.a, y.b from ${input} x join (values (0, 1), (1, 2), (1, 1)) y (a, b) on x.a = y.a)`,
    words`(select distinct on (x.b) x.a, x.b from ${input} x order by x.b, x.a)`,
    words`(select distinct on (x.a) x.a, x.b from ${input} x order by x.a, x.b desc)`,
    words`(select x.${own} as a, ${fc.constantFrom("row_number()", "rank()", "lag(x.b)", "sum(x.b)", "count(*)", "first_value(x.b)")} over (partition by x.${own} order by x.b, x.a) as b from ${input} x)`,
    words`(select x.a, x.b from (select x.a, x.b, row_number() over (partition by x.${own} order by x.b desc) as n from ${input} x) x where x.n ${comparison} ${constant})`,
    words`(select x.a, sum(x.b) over (partition by x.a) as b from ${input} x)`,
    words`(select a, ${aggregate} as b from ${input} x group by a ${having})`,
    words`(select a, a as b from ${input} x group by a ${having})`,
    words`(select a, b from ${input} x group by a, b ${having})`,
    words`(select a / 2 as a, 0 as b from ${input} x group by a / 2 ${having})`,
    words`(select ${aggregate} as a, 1 as b from ${input} x ${having})`,
    words`(select 1 as a, 2 as b from ${input} x ${having})`,
    words`(select distinct x.a, x.b from ${input} x)`,
    words`(select x.a, x.b from ${input} x ${fc.constantFrom("union", "union all")} select y.b, y.a from ${other} y)`,
    words`(select x.a, x.b from ${input} x order by x.a, x.b limit 2)`,
    words`(select x.window_start as a, x.b from tumble(${table}, a, ${width}) x)`,
    words`(select x.window_start as a, count(*) as b from hop(${table}, a, interval '1 millisecond', ${width}) x group by x.window_start ${having})`,
    words`(select x.window_start as a, x.b from session(${table}, a, b, ${width}) x)`,
  );
}

/** What is rare among all queries and has rules of its own. */
const pointed = fc.oneof(
  {
    weight: 6,
    arbitrary: words`(select a, a as b from r x group by a having ${fc.constantFrom("max", "min")}(x.b::text)::${fc.constantFrom("int", "numeric", "float8")} ${comparison} 5)`,
  },
  words`(select a, a as b from (select x.a, x.b from r x) x group by a ${having})`,
  words`(select 1 as a, 2 as b from (select x.a, x.b from r x) x ${having})`,
  words`(select x.a, x.b from r x where ${not}((select ${fc.constantFrom("sum(y.b)", "max(y.b)", "min(y.b)", "sum(abs(y.b))", "count(*)")} from s y) ${comparison} ${constant}))`,
  words`(select 1 as a, 2 as b from t z where ${not}exists (select x.a from r x where (select ${fc.constantFrom("max(y.b)", "min(y.b)", "sum(abs(y.b))", "count(*)")} from s y) ${comparison} ${constant}))`,
  words`(select ${fc.constantFrom("x.a", "y.a", "y.b")} as a, ${fc.constantFrom("count(*)", "1")} as b from r x left join s y on x.a = y.a group by 1 having count(*) ${comparison} ${constant})`,
  words`(select ${column} as a, count(*) as b from r x where ${column} ${not}in (select y.a from s y) group by 1)`,
  words`(select ${column} as a, count(*) as b from r x where ${not}exists (select 1 from s y where y.a = x.b and y.b ${comparison} 1) group by 1)`,
  words`(select ${column} as a, (select count(*) from s y where y.a = x.a) as b from r x)`,
  words`(select ${column} as a, count(*) as b from (select x.a, x.b from r x union all select y.b, y.a from s y) x group by 1)`,
);

const equal = fc.oneof(
  words`y.${own} = x.${own}`,
  words`y.a = x.${own} and y.b = x.${own}`,
  words`y.${own} = x.${own} and y.${own} = ${constant}`,
);
/** Tables that meet in columns of different names, or not at all: a row waits for what it meets, and for nothing else. */
export const meeting: fc.Arbitrary<string> = fc
  .oneof(
    words`(select x.a, x.b from r x where not exists (select 1 from s y where ${equal}))`,
    words`(select x.a, x.b from r x where ${column} not in (select y.${own} from s y where y.${own} = x.${own}))`,
    words`(select x.${own} as a, y.${own} as b from r x left join s y on ${equal})`,
    words`(select x.${own} as a, y.${own} as b from r x full join s y on ${equal})`,
    words`(select x.a, y.b from r x right join s y on ${equal} where x.a is null)`,
    words`(select x.${own} as a, x.b from r x ${fc.constantFrom("except", "except all")} select y.a, y.${own} from s y)`,
    words`(select x.a, count(*) as b from r x left join s y on ${equal} group by x.a ${having})`,
    words`(select x.a, x.b from r x left join s y on ${equal} group by x.a, x.b having count(*) ${comparison} ${constant})`,
    words`(select x.a, y.n as b from (select z.${own} as a, count(*) as n from r z group by 1) x left join (select z.${own} as a, count(*) as n from s z group by 1) y on x.a = y.a)`,
    words`(select ${column} as a, count(*) as b from (select x.a, x.b from r x union all select y.b, y.a from s y) x group by 1)`,
    words`(select x.a, x.b from r x union all select y.${own}, count(*) from s y group by 1)`,
    words`(select x.a, x.b from r x where not exists (select 1 from s y where y.a = x.b and not exists (select 1 from t z where z.${own} = y.${own})))`,
  )
  .map((part) => `select x.a, x.b from ${part} x`);

export const query: fc.Arbitrary<string> = fc
  .oneof(pointed, relation(1), relation(2), relation(3))
  .map((part) => `select x.a, x.b from ${part} x`);
