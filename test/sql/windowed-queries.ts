import fc from "../properties.js";

/** A query over windows of event time, and what it is in words that PostgreSQL has. */
export interface Pair {
  readonly sql: string;
  readonly theirs: string;
}

/** Windows as a table of FROM and in GROUP BY, and what they are in PostgreSQL over some rows of t0. */
interface Source {
  readonly sql: string;
  /** The name of the window, and what it takes behind the time. */
  readonly name: string;
  readonly lengths: string;
  readonly theirs: (rows: string) => string;
  /** Columns that rows of one window agree in. */
  readonly keys: readonly string[];
}

const EPOCH = "timestamp '1970-01-01'";

const tumble = fc.constantFrom("1 hour", "7 minutes", "1 day").map((size): Source => {
  const start = `date_bin('${size}', ts, ${EPOCH})`;
  return {
    ...{ name: "tumble", lengths: `interval '${size}'`, keys: [] },
    sql: `tumble(t0, ts, interval '${size}') x`,
    theirs: (rows) =>
      `(select *, ${start} as window_start, ${start} + interval '${size}' as window_end from ${rows} where ts is not null) x`,
  };
});

const hop = fc.constantFrom(["10 minutes", "1 hour"], ["1 hour", "2 hours"]).map(([slide, size]): Source => {
  const last = `date_bin('${slide}', ts, ${EPOCH})`;
  const first = `${last} - interval '${size}' + interval '${slide}'`;
  return {
    ...{ name: "hop", lengths: `interval '${slide}', interval '${size}'`, keys: [] },
    sql: `TABLE(HOP(TABLE t0, DESCRIPTOR(ts), INTERVAL '${slide}', INTERVAL '${size}')) x`,
    theirs: (rows) =>
      `(select t0.*, w as window_start, w + interval '${size}' as window_end from ${rows}, lateral generate_series(${first}, ${last}, interval '${slide}') w where ts is not null) x`,
  };
});

const cumulate = fc
  .constantFrom(["10 minutes", "1 hour"], ["1 hour", "1 day"])
  .map(([step, size]): Source => {
    const start = `date_bin('${size}', ts, ${EPOCH})`;
    return {
      ...{ name: "cumulate", lengths: `interval '${step}', interval '${size}'`, keys: [] },
      sql: `TABLE(CUMULATE(DATA => TABLE t0, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '${step}', SIZE => INTERVAL '${size}')) x`,
      theirs: (rows) =>
        `(select t0.*, ${start} as window_start, w as window_end from ${rows}, lateral generate_series(${start} + interval '${step}', ${start} + interval '${size}', interval '${step}') w where w > ts) x`,
    };
  });

const session = fc
  .tuple(fc.constantFrom("10 minutes", "1 hour"), fc.constantFrom("i", "s"))
  .map(([gap, key]): Source => {
    const order = `partition by ${key} order by ts, id`;
    const before = (rows: string) =>
      `select *, lag(ts) over (${order}) as before from ${rows} where ts is not null`;
    const breaks = (rows: string) =>
      `select *, sum(case when ts - before < interval '${gap}' then 0 else 1 end) over (${order} rows unbounded preceding) as number from (${before(rows)}) y`;
    const own = `over (partition by ${key}, number)`;
    return {
      ...{ name: "session", lengths: `interval '${gap}'`, keys: [`x.${key}`] },
      sql: `session(t0, ts, ${key}, interval '${gap}') x`,
      theirs: (rows) =>
        `(select *, min(ts) ${own} as window_start, max(ts) ${own} + interval '${gap}' as window_end from (${breaks(rows)}) z) x`,
    };
  });

const aggregate = fc.constantFrom(
  ...["count(*)", "sum(x.k)", "max(x.s)", "avg(x.n)", "count(distinct x.i)", "min(x.ts)"],
  ...["string_agg(x.s, ',' order by x.id)", "sum(x.f) filter (where x.b)"],
);

const source = fc.oneof(tumble, hop, cumulate, session);

const inFrom: fc.Arbitrary<Pair> = fc
  .tuple(source, aggregate, aggregate, fc.nat({ max: 3 }))
  .map(([{ sql, theirs, keys }, a, b, form]) => {
    const bounds = ["x.window_start", "x.window_end", ...keys].join(", ");
    const written = [
      (from: string) => `select ${bounds}, ${a} as p, ${b} as q from ${from} group by ${bounds}`,
      (from: string) =>
        `select ${bounds}, x.b, ${a} as p from ${from} where x.k is not null group by ${bounds}, x.b having count(*) > 1`,
      (from: string) =>
        `select x.id, x.s, ${bounds} from ${from} where x.window_end > timestamp '2000-01-01'`,
      (from: string) =>
        `select y.m, count(*) as c from (select ${bounds}, ${a} as m from ${from} group by ${bounds}) y group by y.m`,
    ][form];
    return { sql: written?.(sql) ?? "", theirs: written?.(theirs("t0")) ?? "" };
  });

/** The same windows in GROUP BY: of the rows that WHERE leaves. */
const inGroupBy: fc.Arbitrary<Pair> = fc
  .tuple(
    source,
    aggregate,
    fc.constantFrom("x.k is not null", "x.b or x.i > 0", "x.s <> 'a'", "true"),
    fc.constantFrom("", " having count(*) > 1", " having END > timestamp '2000-01-01'"),
    fc.boolean(),
  )
  .map(([{ name, lengths, keys, theirs }, a, condition, having, isByTwo]) => {
    const bound = (end: string) => `${name}_${end}(x.ts, ${lengths})`;
    const more = isByTwo && name !== "session" ? [...keys, "lower(x.s)"] : keys;
    const selected = (start: string, end: string, last: string) =>
      [...more, a, start, end, last].map((each, i) => `${each} as c${i}`).join(", ");
    const rows = `(select * from t0 x where ${condition}) t0`;
    return {
      sql: `select ${selected(bound("start"), bound("end"), bound("rowtime"))} from t0 x where ${condition} group by ${[...more, `${name}(x.ts, ${lengths})`].join(", ")}${having.replace("END", bound("end"))}`,
      theirs: `select ${selected("x.window_start", "x.window_end", "x.window_end - interval '1 millisecond'")} from ${theirs(rows)} group by ${[...more, "x.window_start, x.window_end"].join(", ")}${having.replace("END", "x.window_end")}`,
    };
  });

export const windowed: fc.Arbitrary<Pair> = fc.oneof(inFrom, inGroupBy);
