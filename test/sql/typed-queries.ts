import type { Scalar, SqlSchema, SqlType } from "#src/sql/index.js";
import fc from "../properties.js";

/** Random queries over tables with a column of every kind of type, all of which may be NULL but one. */

export type Kind = "int4" | "int8" | "numeric" | "float8" | "text" | "bool" | "date" | "timestamp" | "jsonb";

const COLUMNS: Readonly<Record<string, Kind>> = {
  i: "int4",
  k: "int8",
  n: "numeric",
  f: "float8",
  s: "text",
  b: "bool",
  d: "date",
  ts: "timestamp",
  j: "jsonb",
};

export const TABLES = ["t", "u"] as const;

const columns = [
  { name: "id", type: "int4" as const, nullable: false },
  ...Object.entries(COLUMNS).map(([name, type]) => ({ name, type, nullable: true })),
];

export const SCHEMA: SqlSchema = Object.fromEntries(TABLES.map((table) => [table, columns]));

/** Few values, so that rows meet; doubles that a sum holds exactly; with the collation "C", only ASCII has capital letters. */
const POOLS: Readonly<Record<Kind, readonly Scalar[]>> = {
  int4: [-3, 0, 1, 2, 7, 100],
  int8: [-1, 0, 1, 2, 5_000_000_000],
  numeric: ["-1.50", "0", "0.25", "1", "1.0", "2.125", "33.3333"],
  float8: [-2.5, 0, 0.5, 1, 2, 1024],
  text: ["", "a", "B", "ab", "10", "9", "a%b", "x_y", "日€😀"],
  bool: [true, false],
  date: ["2024-02-29", "2024-03-01", "1999-12-31"],
  timestamp: [
    "2024-02-29 12:30:45",
    "2024-02-29 12:30:45.250007",
    "1970-01-01 00:00:00",
    "2024-03-01 00:00:00",
  ],
  jsonb: ['{"a": 1}', '{"a": "x", "bb": [1, 2]}', "[1, 2, 3]", '"t"', "null", "7"],
};

export type TableRows = Readonly<Record<string, readonly Readonly<Record<string, Scalar>>[]>>;

const row = fc.record(
  Object.fromEntries(
    Object.entries(COLUMNS).map(([name, type]) => [
      name,
      fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...POOLS[type]) }, fc.constant(null)),
    ]),
  ),
);

export const rows: fc.Arbitrary<TableRows> = fc
  .tuple(fc.array(row, { maxLength: 7 }), fc.array(row, { maxLength: 7 }))
  .map((all) =>
    // No two rows of the tables have the same id, so that it can order them.
    Object.fromEntries(
      all.map((list, i) => [TABLES[i], list.map((each, nth) => ({ id: 100 * i + nth, ...each }))]),
    ),
  );

/** What fills the tables. */
export function insertion(data: TableRows): string {
  const shown = (value: Scalar) => (value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`);
  return Object.entries(data)
    .flatMap(([table, list]) => [
      `truncate ${table};`,
      ...list.map((each) => `insert into ${table} values (${Object.values(each).map(shown).join(", ")});`),
    ])
    .join("\n");
}

export const CREATION = TABLES.map((table) => {
  const defined = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  return `create table ${table} (id int not null, ${defined.join(", ")});`;
}).join("\n");

type Text = fc.Arbitrary<string>;

function words(strings: TemplateStringsArray, ...parts: Text[]): Text {
  return fc
    .tuple(...parts)
    .map((each) => strings.reduce((text, string, i) => text + string + (each[i] ?? ""), ""));
}

/** Regular expressions whose matches do not depend on whether the first or the longest is taken. */
const pattern = fc.constantFrom(
  "'a'",
  "'^a'",
  "'b$'",
  "'[a-z]'",
  "'[0-9]+'",
  "'.'",
  "'x_?y'",
  "'(a)(.)'",
  "'^$'",
);
const comparison = fc.constantFrom("=", "<>", "<", "<=", ">", ">=");
const NUMBERS: readonly Kind[] = ["int4", "int8", "numeric", "float8"];
const number = fc.constantFrom(...NUMBERS);

/** Expressions of a type over the columns of `x`. */
export function expression(kind: Kind, depth: number, of = "x"): Text {
  const column = fc.constantFrom(
    ...Object.entries(COLUMNS).flatMap(([name, type]) => (type === kind ? [`${of}.${name}`] : [])),
  );
  const literal = fc.constantFrom(...POOLS[kind]).map((value) => `'${value}'::${kind}`);
  const leaf = fc.oneof({ weight: 5, arbitrary: column }, literal, fc.constant(`null::${kind}`));
  if (depth === 0) return leaf;
  const again = (other: Kind) => expression(other, depth - 1, of);
  const any: Text[] = [
    leaf,
    words`coalesce(${again(kind)}, ${again(kind)})`,
    words`case when ${again("bool")} then ${again(kind)} else ${again(kind)} end`,
    words`case ${again("int4")} when 1 then ${again(kind)} when 2 then ${again(kind)} end`,
    ...(kind === "jsonb" ? [] : [words`nullif(${again(kind)}, ${again(kind)})`]),
    ...(kind === "jsonb"
      ? []
      : [words`${fc.constantFrom("greatest", "least")}(${again(kind)}, ${again(kind)})`]),
  ];
  return fc.oneof(...any, ...ownForms(kind, again));
}

function ownForms(kind: Kind, again: (kind: Kind) => Text): Text[] {
  const [i, n, f, s] = [again("int4"), again("numeric"), again("float8"), again("text")];
  switch (kind) {
    case "int4":
      return [
        words`(${i} ${fc.constantFrom("+", "-", "*")} ${i})`,
        words`(${i} ${fc.constantFrom("/", "%")} ${fc.constantFrom("2", "-3", "'7'")})`,
        words`(- ${i})`,
        words`(${i} / ${i})`,
        words`${fc.constantFrom("length", "abs(length", "(2 * length")}(${s}))`.map((text) =>
          text.startsWith("length") ? text.slice(0, -1) : text,
        ),
        words`position(${s} in ${s})`,
        words`(${again("date")} - ${again("date")})`,
        words`(${fc.oneof(n, f)})::int4`,
        words`${fc.constantFrom("ascii", "octet_length", "bit_length")}(${s})`,
        words`regexp_count(${s}, ${pattern})`,
        words`jsonb_array_length(${again("jsonb")} || '[]')`,
      ];
    case "int8":
      return [
        words`(${i} ${fc.constantFrom("+", "-", "*")} ${again("int8")})`,
        words`mod(${again("int8")}, 3)`,
        words`(${i})::int8`,
        words`gcd(${again("int8")}, 6)`,
      ];
    case "numeric":
      return [
        words`(${n} ${fc.constantFrom("+", "-", "*")} ${fc.oneof(i, n)})`,
        words`(${n} / ${fc.constantFrom("3", "0.7", "-12.25", "1000")})`,
        words`(${i} / ${fc.constantFrom("3.0", "0.125")})`,
        words`round(${n}, ${fc.constantFrom("0", "1", "2", "-1")})`,
        words`${fc.constantFrom("floor", "ceil", "trunc", "abs", "round", "sign")}(${n})`,
        words`(${n} % ${fc.constantFrom("0.7", "2")})`,
        words`trunc(${n}, ${fc.constantFrom("0", "1", "-1")})`,
        words`extract(epoch from ${again("timestamp")} - ${again("timestamp")})`,
        words`extract(${fc.constantFrom("epoch", "year", "month", "day", "hour", "minute", "second", "dow", "doy", "quarter")} from ${again("timestamp")})`,
        words`(${f})::numeric`,
      ];
    case "float8":
      return [
        words`(${f} ${fc.constantFrom("+", "-", "*")} ${fc.oneof(i, n, f)})`,
        words`(${f} / 4)`,
        words`${fc.constantFrom("floor", "ceil", "trunc", "abs", "round", "sign")}(${f})`,
        words`floor(${i})`,
        words`round(${fc.constantFrom("sin", "cos", "atan", "cbrt", "degrees")}(${f}) * 1000)`,
      ];
    case "text":
      return [
        words`${fc.constantFrom("lower", "upper", "trim", "ltrim", "rtrim", "reverse")}(${s})`,
        words`(${s} || ${fc.oneof(s, i, again("date"), again("bool"))})`,
        words`concat(${s}, ${i}, ${again("bool")})`,
        words`substring(${s} from ${fc.constantFrom("-1", "0", "1", "2")} for ${fc.constantFrom("0", "1", "5")})`,
        words`${fc.constantFrom("left", "right")}(${s}, ${fc.constantFrom("-1", "0", "1", "2")})`,
        words`replace(${s}, ${s}, '-')`,
        words`split_part(${s}, ${fc.constantFrom("'a'", "'%'", "''")}, ${fc.constantFrom("1", "2", "-1")})`,
        words`(${fc.oneof(i, n, f, again("bool"), again("date"), again("timestamp"), again("jsonb"))})::text`,
        words`(${again("jsonb")} ->> ${fc.constantFrom("'a'", "0", "-1")})`,
        words`${fc.constantFrom("lpad", "rpad")}(${s}, ${fc.constantFrom("0", "1", "4")}${fc.constantFrom("", ", 'xy'", ", ''")})`,
        words`repeat(${s}, ${fc.constantFrom("-1", "0", "2")})`,
        words`${fc.constant("initcap")}(${s})`,
        words`translate(${s}, ${fc.constantFrom("'ab'", "'a%'")}, ${fc.constantFrom("'x'", "''", "'yz'")})`,
        words`regexp_replace(${s}, ${pattern}, ${fc.constantFrom("'-'", "'<\\&>'")}${fc.constantFrom("", ", 'g'", ", 'i'")})`,
        words`substring(${s} from ${pattern})`,
        words`overlay(${s} placing 'zz' from ${fc.constantFrom("1", "2")})`,
        words`(${again("jsonb")} #>> ${fc.constantFrom("'{a}'", "'{bb,0}'", "'{1}'", "'{}'")})`,
        words`jsonb_typeof(${again("jsonb")})`,
        words`to_char(${again("timestamp")}, ${fc.constantFrom("'YYYY-MM-DD'", "'HH24:MI:SS.MS'", "'HH12 US'")})`,
      ];
    case "bool":
      return [
        ...(["int4", "numeric", "float8", "text", "date", "timestamp", "bool"] as const).map(
          (type) => words`(${again(type)} ${comparison} ${again(type)})`,
        ),
        words`(${fc.oneof(i, n, f, again("int8"))} ${comparison} ${fc.oneof(i, n, f, again("int8"))})`,
        words`(${again("date")} ${comparison} ${again("timestamp")})`,
        words`(${again("timestamp")} ${comparison} '2024-03-01')`,
        words`(${again("jsonb")} = ${again("jsonb")})`,
        words`(${again("bool")} ${fc.constantFrom("and", "or")} ${again("bool")})`,
        words`(not ${again("bool")})`,
        words`(${again("bool")} is ${fc.constantFrom("", "not ")}${fc.constantFrom("true", "false", "unknown")})`,
        words`(${fc.oneof(i, s)} is ${fc.constantFrom("", "not ")}null)`,
        words`(${i} is ${fc.constantFrom("", "not ")}distinct from ${again("int8")})`,
        words`(${s} ${fc.constantFrom("", "not ")}${fc.constantFrom("like", "ilike")} ${fc.constantFrom("'a%'", "'%b'", "'_'", "'a\\%b'", "'%'")})`,
        words`(${i} ${fc.constantFrom("", "not ")}in (1, 2, ${i}))`,
        words`((${i}, ${s}) ${fc.constantFrom("", "not ")}in ((1, 'a'), (2, null)))`,
        words`(${i} ${fc.constantFrom("", "not ")}between ${i} and ${n})`,
        words`(${i} = any (array[1, 2, null]))`,
        words`(${s} ${fc.constantFrom("~", "~*", "!~", "!~*")} ${pattern})`,
        words`(${again("jsonb")} ${fc.constantFrom("@>", "<@")} ${again("jsonb")})`,
        words`(${again("jsonb")} ? ${fc.constantFrom("'a'", "'t'")})`,
        words`starts_with(${s}, 'a')`,
      ];
    case "date":
      return [
        words`(${again("date")} ${fc.constantFrom("+", "-")} ${fc.constantFrom("1", "30")})`,
        words`(${again("timestamp")})::date`,
        words`make_date(2024, ${fc.constantFrom("1", "12")}, 28)`,
      ];
    case "timestamp":
      return [
        words`(${again("timestamp")} ${fc.constantFrom("+", "-")} interval '90 minutes')`,
        words`date_trunc(${fc.constantFrom("'second'", "'minute'", "'hour'", "'day'", "'week'", "'month'", "'quarter'", "'year'")}, ${again("timestamp")})`,
        words`(${again("date")} + interval '36 hours')`,
        words`(${again("date")})::timestamp`,
        words`date_bin(interval ${fc.constantFrom("'1 hour'", "'7 minutes'", "'1 day'")}, ${again("timestamp")}, timestamp '2024-01-01')`,
        words`(${again("timestamp")} + interval '1 hour' * ${fc.constantFrom("2", "-1.5")})`,
      ];
    case "jsonb":
      return [
        words`(${again("jsonb")} || ${again("jsonb")})`,
        words`(${again("jsonb")} -> ${fc.constantFrom("'a'", "'bb'", "0", "1", "-1")})`,
        words`(${again("jsonb")} #> ${fc.constantFrom("'{a}'", "'{bb,0}'", "'{1}'", "'{}'")})`,
        words`to_jsonb(${fc.oneof(s, i, again("bool"))})`,
      ];
  }
}

const kind = fc.constantFrom(...(Object.values(COLUMNS) as Kind[]));
const some = (depth: number) => kind.chain((each) => expression(each, depth));
const condition = expression("bool", 2);
const not = fc.constantFrom("", "not ");
const table = fc.constantFrom<string>(...TABLES);

const aggregate: Text = fc.oneof(
  fc.constant("count(*)"),
  words`count(${some(1)})`,
  words`count(distinct ${fc.constantFrom("x.i", "x.n", "x.s", "x.b")})`,
  number.chain((each) => words`${fc.constantFrom("sum", "avg", "min", "max")}(${expression(each, 1)})`),
  words`sum(distinct ${expression("int4", 0)})`,
  words`${fc.constantFrom("min", "max")}(${fc.oneof(expression("text", 1), expression("date", 1), expression("timestamp", 0))})`,
  words`${fc.constantFrom("bool_and", "bool_or")}(${condition})`,
  words`string_agg(${expression("text", 1)}, ',' order by x.id)`,
  words`string_agg(x.s, '-' order by x.i ${fc.constantFrom("", "desc", "nulls first")}, x.id)`,
  words`array_agg(${fc.oneof(expression("int4", 1), expression("text", 0), expression("bool", 0))} order by x.id)`,
);

const filtered: Text = fc.oneof(aggregate, words`${aggregate} filter (where ${condition})`);

const frame = fc.constantFrom(
  "",
  " rows between 1 preceding and current row",
  " rows between unbounded preceding and unbounded following",
  " rows between 2 preceding and 1 preceding",
  " range between current row and unbounded following",
);
const groups = fc.constantFrom(
  " groups between 1 preceding and current row",
  " groups between 1 following and 2 following",
  " range between current row and current row",
);
/** Frames by the value of the order, whose type decides what their distances are. */
const ranged: Text = words`over (partition by ${fc.constantFrom("x.b", "x.s")} order by ${fc.oneof(
  words`${fc.constantFrom("x.i", "x.k", "x.n", "x.f")}${fc.constantFrom("", " desc", " nulls first")} range between ${fc.constantFrom("1 preceding and current row", "2 preceding and 1 preceding", "unbounded preceding and 1 following", "1 following and unbounded following", "0 preceding and 3 following")}`,
  words`${fc.constantFrom("x.n", "x.f")}${fc.constantFrom("", " desc")} range between 0.75 preceding and ${fc.constantFrom("current row", "0.5 following")}`,
  words`${fc.constantFrom("x.ts", "x.d")}${fc.constantFrom("", " desc", " nulls first")} range between interval ${fc.constantFrom("'20 minutes'", "'1 day'")} preceding and ${fc.constantFrom("current row", "interval '15 minutes' following")}`,
)})`;
const over: Text = fc.oneof(
  words`${fc.constantFrom("row_number()", "rank()", "dense_rank()", "lag(x.i)", "lead(x.s, 2)", "lag(x.i, 1, -5)", "first_value(x.n)", "last_value(x.i)", "count(*)", "sum(x.i)", "max(x.s)")} over (partition by ${fc.constantFrom("x.b", "x.i", "x.s")} order by x.id${frame})`,
  words`${fc.constantFrom("rank()", "dense_rank()", "count(*)", "sum(x.k)")} over (order by x.i ${fc.constantFrom("", "desc", "nulls first")})`,
  words`sum(x.i) over (partition by x.b)`,
  words`${fc.constantFrom("count(*)", "sum(x.i)", "avg(x.n)", "max(x.s)", "bool_or(x.b)", "min(x.id)")} ${ranged}`,
  words`${fc.constantFrom("count(*)", "sum(x.k)", "min(x.s)")} over (partition by x.b order by ${fc.constantFrom("x.i", "x.s desc", "x.n, x.i")}${groups})`,
  words`${fc.constantFrom("ntile(1)", "ntile(3)", "percent_rank()", "cume_dist()", "nth_value(x.s, 2)")} over (partition by ${fc.constantFrom("x.b", "x.i")} order by x.id)`,
  words`${fc.constantFrom("percent_rank()", "cume_dist()")} over (order by ${fc.constantFrom("x.i", "x.s desc")})`,
  words`${fc.constantFrom("nth_value(x.i, 1)", "first_value(x.n)", "last_value(x.id)")} over (partition by x.b order by x.id range between ${fc.constantFrom("150 preceding and 1 following", "1 preceding and 1 preceding", "3 following and 200 following")})`,
);

/** The same with windows that have names, alone and extended. */
const named: Text = words`select x.id, ${fc.constantFrom("row_number()", "lag(x.i)", "sum(x.i)", "last_value(x.s)")} over w as p, ${fc.constantFrom("count(*)", "first_value(x.n)", "max(x.s)")} over (${fc.constantFrom("w", "v order by x.id")}${frame}) as q, rank() over y as r`;
const windows: Text = words` window w as (partition by ${fc.constantFrom("x.b", "x.i", "x.s")} order by x.id), v as (partition by x.b), y as (v order by ${fc.constantFrom("x.i", "x.s desc")})${fc.constantFrom("", ", unused as (partition by x.n order by x.d, x.f desc)")}`;

const inner: Text = fc.oneof(
  words`${not}exists (select 1 from u y where y.i = x.i and ${expression("bool", 1, "y")})`,
  words`x.i ${not}in (select y.i from u y where ${expression("bool", 1, "y")})`,
  words`(x.i, x.s) ${not}in (select y.k, y.s from u y)`,
  words`(select ${fc.constantFrom("count(*)", "max(y.i)", "sum(y.n)")} from u y where y.b = x.b) > ${expression("int4", 0)}`,
);

const where: Text = fc.oneof(
  fc.constant(""),
  words` where ${fc.oneof(condition, inner, words`${inner} or ${condition}`)}`,
);

/** Sources with the columns of a table under the name x. */
const source: Text = fc.oneof(
  { weight: 3, arbitrary: words`${table} x` },
  words`(select * from ${table} x ${where}) x`,
  words`(select * from t ${fc.constantFrom("union", "union all")} select * from u) x`,
  words`(select * from t ${fc.constantFrom("except", "except all", "intersect", "intersect all")} select * from t x where ${condition}) x`,
  words`(select distinct on (${fc.constantFrom("i", "b", "s, i")}) * from t x order by ${fc.constantFrom("")}i, id) x`.map(
    (text) =>
      text.replace(
        /on \((.*?)\) (.*?) order by i/,
        (_, keys, rest) => `on (${keys}) ${rest} order by ${keys}`,
      ),
  ),
  words`(select * from t x order by ${fc.constantFrom("i", "n desc", "s nulls first", "d, b")}, id limit 3 offset ${fc.constantFrom("0", "1")}) x`,
);

const joinKind = fc.constantFrom("join", "left join", "right join", "full join");
const joined: Text = words`select ${some(1)} as p, y.s as q, x.id, y.id as yid from t x ${joinKind} u y on ${fc.oneof(
  fc.constantFrom("x.i = y.i", "x.s = y.s", "x.i = y.k", "x.n = y.f"),
  words`x.b = y.b and ${expression("bool", 1)}`,
)}`;

export const query: Text = fc.oneof(
  words`select ${some(3)} as p, ${some(2)} as q from ${source}${where}`,
  words`select distinct ${some(2)} as p, ${some(1)} as q from ${source}${where}`,
  words`select ${filtered} as p, ${filtered} as q from ${source}${where}`,
  words`select x.i, x.s, ${filtered} as p, ${filtered} as q from ${source}${where} group by x.i, x.s having ${fc.constantFrom("count(*) > 0", "max(x.n) is not null", "sum(x.k) > 1")}`,
  words`select ${fc.constantFrom("x.n + 1", "x.f", "x.b", "x.j")} as p, count(*) as q from ${source} group by 1`,
  words`select x.id, ${over} as p, ${over} as q from ${source}${where}`,
  words`${named} from ${source}${where}${windows}`,
  words`select x.i, count(*) as c, rank() over (order by count(*) desc, x.i) as r from ${source} group by x.i`,
  joined,
  words`select p, count(*) as c, max(q) as q from (${joined}) x group by p having count(*) > ${fc.constantFrom("0", "1")}`,
  words`select x.id, x.i, x.s, r from (select x.*, ${fc.constantFrom("row_number()", "rank()", "dense_rank()")} over (partition by ${fc.constantFrom("x.b", "x.i")} order by ${fc.constantFrom("x.n desc, x.id", "x.s, x.id", "x.ts desc nulls last, x.id")}) as r from ${source}) x where r <= ${fc.constantFrom("1", "2")}`,
  words`select ${fc.constantFrom("b, x.b as xb, y.b as yb, i, x.id, y.id as yid", "i + 1 as p, b, count(*) as c", "coalesce(i, 0) as p, b, y.s")} from (select id, i, b from ${table}) x ${fc.constantFrom("", "left ", "right ", "full ")}join (select id, i, b, s from ${table}) y using (i, b)`.map(
    (text) => (text.includes("count(*)") ? `${text} group by i, b` : text),
  ),
  words`select * from (select id, i, b from t) x ${joinKind} (select id as other, s, b, i from u) y using (b, i)`,
  words`select * from (select n, i, b from t) x natural ${joinKind} (select i, b, s from u) y${fc.constantFrom("", " where i > 0")}`,
  words`select x.id, y.id as yid, z.id as zid from t x ${joinKind} u y on x.i = y.i ${joinKind} t z on ${fc.constantFrom("y.s = z.s", "x.b = z.b", "z.k = x.k and y.i > z.i")}${where}`,
  words`select x.id, ${inner} as p from ${source}`,
  words`select x.id, y.c, y.m from t x left join (select b, count(*) as c, max(${expression("text", 1)}) as m from t x group by b) y on y.b = x.b`,
  words`with x as (select ${some(1)} as p, i as q from t x) select p, q from x union all select p, q from x where q > 0`,
  words`select * from (values (1, 'a', ${fc.constantFrom("1.5", "null")}), (2, null, 2)) as x (a, b, c)`,
  words`select ${expression("int4", 1)} as p from t x ${fc.constantFrom("union", "except", "except all", "intersect", "intersect all")} select ${fc.oneof(expression("int8", 1), expression("numeric", 1), expression("float8", 0))} from u x`,
);

export const TYPE_IDS: Readonly<Record<number, SqlType>> = {
  16: "bool",
  20: "int8",
  21: "int2",
  23: "int4",
  25: "text",
  114: "json",
  700: "float4",
  701: "float8",
  1000: "bool[]",
  1007: "int4[]",
  1009: "text[]",
  1082: "date",
  1114: "timestamp",
  1184: "timestamptz",
  1186: "interval",
  1700: "numeric",
  2950: "uuid",
  3802: "jsonb",
};
