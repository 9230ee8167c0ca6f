import fc from "../properties.js";

/** Statements of PostgreSQL's whole language, and texts that are almost statements. Most of them are not supported here. */

type Text = fc.Arbitrary<string>;

function words(parts: TemplateStringsArray, ...given: Text[]): Text {
  return fc.tuple(...given).map((values) => String.raw({ raw: parts }, ...values));
}

const of = (...texts: string[]): Text => fc.constantFrom(...texts);
const name = of("t0", "u0", "x", "i", "s", "ts", "nothing", '"Quoted ""name"', "pg_class", "ü");
const type = of(
  "int",
  "text",
  "numeric(3, 1)",
  "int[]",
  "bytea",
  "money",
  "timestamptz(3)",
  "regclass",
  "interval year",
  "point",
  "nothing",
);
const operator = of(
  "+",
  "-",
  "*",
  "/",
  "%",
  "^",
  "||",
  "=",
  "<>",
  "<",
  ">=",
  "!~",
  "~",
  "@>",
  "->",
  "#>>",
  "&&",
  "<<",
  "|/",
  "~~*",
  "?|",
  "@@",
);
const called = of(
  "count",
  "sum",
  "now",
  "random",
  "generate_series",
  "array_agg",
  "percentile_cont",
  "json_build_object",
  "unnest",
  "pg_sleep",
  "lag",
  "ntile",
  "date_trunc",
  "regexp_matches",
  "format",
  "to_char",
  "lower",
  "extract_nothing",
  "pg_catalog.lower",
);

const expression: Text = fc.letrec<{ any: string }>((tie) => {
  const any = tie("any");
  return {
    any: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.oneof(
        name,
        words`${name}.${name}`,
        of(
          "1",
          "1.5e300",
          "99999999999999999999",
          "'a'",
          "null",
          "true",
          "*",
          "$1",
          "$0",
          "$99999",
          "'1 month'::interval",
          "e'\\n'",
          "b'101'",
          "x'1f'",
          "interval '1-2' year to month",
          "current_date",
          "default",
          "''",
        ),
      ),
      words`${any} ${operator} ${any}`,
      words`(${any})::${type}`,
      words`cast(${any} as ${type})`,
      words`${called}(${any})`,
      words`${called}(${of("", "distinct ", "variadic ", "all ")}${any}, ${any}${of("", " order by 1", " order by x desc using >")})${of("", " filter (where true)", " within group (order by i)", " over ()", " over w", " over (partition by i order by ts range between interval '1 hour' preceding and current row)", " over (rows 1 preceding exclude ties)")}`,
      words`case ${of("", "i ")}when ${any} then ${any} else ${any} end`,
      words`(${any}, ${any}) ${of("=", "in", "<", "overlaps")} (${any}, ${any})`,
      words`${any} ${of("in", "not in")} (${any}, ${any})`,
      words`${any} ${of("is null", "is document", "is json", "isnull", "is of (int)", "is normalized", "is not true", "at time zone 'utc'", 'collate "C"')}`,
      words`${any} ${of("like", "similar to", "not ilike", "~", "between symmetric")} ${any}${of("", " escape '#'", " and 1")}`,
      words`array[${any}, ${any}]`,
      words`(${any})[${any}${of("", ":2")}]`,
      words`row(${any}).f1`,
      words`${of("", "not ")}exists (select ${any} from t0)`,
      words`${any} ${of("= any", "< all", "= some", "in")} (${of("select i from t0", "array[1]", "select 1, 2", "values (1)")})`,
      words`(select ${any} from u0${of("", " limit 1", " where u0.i = t0.i")})`,
      words`${of("coalesce", "greatest", "nullif", "xmlelement", "grouping", "trim", "position", "overlay", "extract")}(${any}, ${any})`,
      words`extract(${of("epoch", "century", "'hour'", "nothing")} from ${any})`,
      words`substring(${any} from ${any} for ${any})`,
    ),
  };
}).any;

const from: Text = fc.oneof(
  name,
  words`${name} ${of("x", "as x (a, b)", "tablesample system (1)", "for system_time as of proctime()", "for system_time as of x.ts")}`,
  words`${name} ${of("join", "left join", "full join", "cross join", "natural join")} ${name} ${fc.oneof(of("", "using (i)", "using (nothing)"), words`on ${expression}`)}`,
  words`${of("tumble", "hop", "session", "generate_series", "TABLE(TUMBLE", "unnest")}(${of("t0, ts", "TABLE t0, DESCRIPTOR(ts)", "t0", "1, 2", "t0, i")}${of("", ", interval '1 hour'", ", interval '1 hour', interval '2 hours'", ", interval '0'", ", interval '-1 day'", ", 7")})${of("", ")")} x`,
  words`lateral (select ${expression}) x`,
  words`(select * from t0) ${of("", "x", "x (a)")}`,
  words`rows from (generate_series(1, 2), now()) with ordinality`,
  words`t0, u0, ${name}`,
);

const select: Text = words`select ${of("", "distinct ", "distinct on (i) ", "all ")}${expression}${of("", " as p", " p, *", ", t0.*", ", count(*)")} from ${from}${fc.oneof(of(""), words` where ${expression}`)}${fc.oneof(of("", " group by 1", " group by ()", " group by rollup (i)", " group by grouping sets ((i), ())", " group by all"), words` group by ${expression} having ${expression}`)}${of("", " window w as (partition by i)", " order by 1 nulls first", " order by 99", " limit 1", " limit all", " offset 2 rows fetch first 3 rows with ties", " for update", " limit -1", " limit 1.5", " limit i")}`;

const statement: Text = fc.oneof(
  { weight: 6, arbitrary: select },
  words`${select} ${of("union", "except all", "intersect")} ${select}`,
  words`with ${of("", "recursive ")}x${of("", " (a)", " (a, a)")} as ${of("", "materialized ")}(${select}) ${select}`,
  words`with x as (delete from t0 returning *) ${select}`,
  words`${select} ${of("emit changes", "emit on window close", "emit", "emit on window", "emit changes emit changes", "with (coordination = 'order')", ";; select 1", "-- end", "/* open")}`,
  words`create ${of("stream", "table", "source", "materialized view", "view", "index", "function")} ${name} ${fc.oneof(words`(a ${type}, b ${type}${of("", ", primary key (a)", ", primary key (z)", ", watermark for a as a", ", watermark for b as b - interval '5 seconds'", ", unique (a)", ", check (a > 1)")})`, words`as ${select}`)}${of("", " with (retention = '1 day')", " with (a = b)", " inherits (t0)", " partition by list (a)")}`,
  words`values (${expression}), (${expression}${of("", ", 1")})`,
  words`insert into t0 values (${expression})`,
  words`update t0 set i = ${expression}`,
  of(
    "",
    ";",
    "select",
    "table t0",
    "drop table t0",
    "copy t0 to program 'rm -rf /'",
    "set role postgres",
    "explain select 1",
    "begin",
    "do $$ begin end $$",
    "call f()",
    "listen x",
    "select '\ud800'",
    "select 1 \0",
    "grant all on t0 to public",
    "prepare p as select 1",
  ),
);

/** A statement with a word left out, doubled, or put elsewhere. */
const mangled: Text = fc.tuple(statement, fc.nat(), fc.nat(), fc.nat({ max: 3 })).map(([text, a, b, how]) => {
  const parts = text.split(/(\s+|[(),.])/);
  const [i, j] = [a % parts.length, b % parts.length];
  if (how === 0) parts.splice(i, 1);
  else if (how === 1) parts.splice(i, 0, parts[i] ?? "");
  else if (how === 2) [parts[i], parts[j]] = [parts[j] ?? "", parts[i] ?? ""];
  else return text.slice(0, i);
  return parts.join("");
});

export const anyText: Text = fc.oneof({ weight: 3, arbitrary: statement }, mangled);
