import fc from "../properties.js";

/**
 * Random subqueries in every place that PostgreSQL allows them in, with columns of the query around them in every place of the subquery. In
 * the query around them, rows are those of a table under the name x; in the subquery y and z. Values are of the type int4 or int8.
 */

type Text = fc.Arbitrary<string>;

function words(strings: TemplateStringsArray, ...parts: Text[]): Text {
  return fc
    .tuple(...parts)
    .map((each) => strings.reduce((text, string, i) => text + string + (each[i] ?? ""), ""));
}

const of = (...texts: string[]): Text => fc.constantFrom(...texts);
const table = of("t", "u");
const compared = of("=", "<>", "<", "<=", ">", ">=");
const not = of("", "not ");

/** Columns of the query around, or none of them. */
const outer = of("x.i", "x.k", "x.i + 1", "coalesce(x.i, 0)");

/** A condition over y, mostly with columns of x. */
const linked: Text = fc.oneof(
  of("y.b = x.b", "y.i = x.i and y.k > 0", "y.s = x.s", "y.id = x.id", "y.n = x.n", "y.i = x.i or x.b"),
  words`y.i ${compared} ${outer}`,
  of("y.b is not distinct from x.b", "x.i > 0", "y.j = x.j", "y.f = x.f and y.d = x.d", "y.k + x.k > 2"),
  of("y.b", "y.i is not null", "true"),
);

/** Subqueries of any number of rows with one column. */
const column: Text = fc.oneof(
  words`select y.i from ${table} y where ${linked}`,
  words`select y.i + x.i from ${table} y where ${linked}`,
  words`select distinct y.i from ${table} y where ${linked}`,
  words`select max(y.i) from ${table} y where ${linked} group by y.b`,
  words`select max(y.i) from ${table} y where ${linked} group by y.b having count(*) > ${of("1", "x.i")}`,
  words`select sum(y.i + x.i) from ${table} y where ${linked}`,
  words`select y.i from ${table} y where ${linked} ${of("union", "union all", "except", "except all", "intersect", "intersect all")} select y.i from ${table} y where ${linked}`,
  words`select y.i from ${table} y ${of("join", "left join", "right join", "full join")} ${table} z on ${of("y.i = z.i", "y.s = z.s", "y.b = z.b and z.i > 0")} where ${linked}`,
  words`select coalesce(y.i, z.i) from ${table} y ${of("join", "left join")} ${table} z on ${of("y.i = z.i and z.b = x.b", "y.s = z.s and y.k = x.k", "y.id = z.id and z.i < x.i")}`,
  words`select q.i from (select * from ${table} y where ${linked}) q where q.k is not null`,
  words`select (select max(z.i) from ${table} z where ${of("z.b = y.b", "z.i > y.i", "z.b = x.b", "z.s = y.s and z.i = x.i")}) from ${table} y where ${linked}`,
  words`select y.i from ${table} y where ${linked} and ${not}exists (select 1 from ${table} z where ${of("z.s = y.s", "z.i = y.i and z.b = x.b", "z.k > x.k and z.b = y.b")})`,
  words`select y.i from ${table} y where ${linked} order by y.${of("n", "s desc", "i nulls first")}, y.id limit ${of("1", "2")} offset ${of("0", "1")}`,
  words`select rank() over (partition by y.b order by y.i) from ${table} y where ${linked}`,
  words`select lag(y.i, 1, x.i) over (order by y.id) from ${table} y where ${linked}`,
  words`select v.a from (values (1, x.i), (x.i, 2)) v (a, b) where v.b > 0`,
  of("select x.i where x.b", "select x.i"),
);

/** Subqueries of at most one row. */
const value: Text = fc.oneof(
  words`select ${of("max(y.i)", "count(*)", "sum(y.k)", "count(y.i) + 1", "min(y.i) + x.i", "sum(y.i * x.i)", "count(distinct y.i)")} from ${table} y where ${linked}`,
  words`select max(y.i) from ${table} y where ${linked} having count(*) > ${of("1", "x.i")}`,
  words`select max(q.i) from (${column}) q (i)`,
  words`select y.${of("i", "k")} from ${table} y where ${linked} order by y.${of("n", "s desc")}, y.id limit 1`,
  words`select y.${of("i", "b::int4", "n::int4")} from ${table} y where y.id = x.id`,
  words`select y.i from ${table} y where ${linked}`,
  words`select x.i + 1 where ${of("x.b", "x.i > 0")}`,
  words`select max((select min(z.i) from ${table} z where z.b = y.b)) from ${table} y where ${linked}`,
);

const condition: Text = fc.oneof(
  words`${not}exists (${column})`,
  words`${outer} ${not}in (${column})`,
  words`(x.i, x.k) ${not}in (select y.i, y.k from ${table} y where ${linked})`,
  words`(${value}) ${compared} ${outer}`,
  words`${outer} ${compared} ${of("any", "all", "some")} (${column})`,
);

const source = words`${table} x`;
const joinKind = of("join", "left join", "right join", "full join");

export const nested: Text = fc.oneof(
  words`select x.id, (${value}) as p from ${source}`,
  words`select x.id, coalesce((${value}), 0) + 1 as p, case when ${condition} then 1 else 2 end as q from ${source}`,
  words`select x.id from ${source} where ${condition}`,
  words`select x.id from ${source} where ${condition} or ${condition}`,
  words`select x.id from ${source} where not (${condition} ${of("or", "and")} x.b)`,
  words`select x.id, ${condition} as p from ${source}`,
  words`select x.i, count(*) as c from ${source} group by x.i having ${of("count(*)", "max(x.k)")} ${compared} (select count(*) from ${table} y where y.i ${compared} x.i)`,
  words`select x.i, (select count(*) from ${table} y where y.i ${compared} x.i) as p, sum(x.k) as q from ${source} group by x.i`,
  words`select x.b, sum((${value})) as p, count(*) filter (where ${condition}) as q from ${source} group by x.b`,
  words`select (${value}) as p, count(*) as c from ${source} group by 1`,
  words`select x.id, rank() over (partition by x.b order by (${value}), x.id) as p from ${source}`,
  words`select x.id from ${source} order by (${value}), x.id limit 3`,
  words`select x.id, z.id as zid from ${source} join ${table} z on x.i = z.i and ${condition}`,
  words`select x.id, z.id as zid from ${table} z ${joinKind} ${source} on x.i = z.i and ${condition}`,
  words`select x.id, z.id as zid from ${source} ${joinKind} ${table} z on x.b = z.b and ${condition}`,
  words`with a as (select * from ${source} where ${condition}) select p.id, q.i from a p ${joinKind} a q on p.id = q.id`,
  words`values ((select max(i) from t), 1), ((select min(i) from u), 2)`,
);
