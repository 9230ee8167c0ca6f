import fc from "../properties.js";

/** A query over windows of event time, and what it is in words that PostgreSQL has. */
export interface Pair {
  readonly sql: string;
  readonly theirs: string;
}

interface Source extends Pair {
  /** Columns that rows of one window agree in. */
  readonly keys: readonly string[];
}

const EPOCH = "timestamp '1970-01-01'";

const tumble = fc.constantFrom("1 hour", "7 minutes", "1 day").map((size): Source => {
  const start = `date_bin('${size}', ts, ${EPOCH})`;
  return {
    sql: `tumble(t0, ts, interval '${size}') x`,
    theirs: `(select *, ${start} as window_start, ${start} + interval '${size}' as window_end from t0 where ts is not null) x`,
    keys: [],
  };
});

const hop = fc.constantFrom(["10 minutes", "1 hour"], ["1 hour", "2 hours"]).map(([slide, size]): Source => {
  const last = `date_bin('${slide}', ts, ${EPOCH})`;
  const first = `${last} - interval '${size}' + interval '${slide}'`;
  return {
    sql: `TABLE(HOP(TABLE t0, DESCRIPTOR(ts), INTERVAL '${slide}', INTERVAL '${size}')) x`,
    theirs: `(select t0.*, w as window_start, w + interval '${size}' as window_end from t0, lateral generate_series(${first}, ${last}, interval '${slide}') w where ts is not null) x`,
    keys: [],
  };
});

const session = fc
  .tuple(fc.constantFrom("10 minutes", "1 hour"), fc.constantFrom("i", "s"))
  .map(([gap, key]): Source => {
    const order = `partition by ${key} order by ts, id`;
    const before = `select *, lag(ts) over (${order}) as before from t0 where ts is not null`;
    const breaks = `select *, sum(case when ts - before < interval '${gap}' then 0 else 1 end) over (${order} rows unbounded preceding) as number from (${before}) y`;
    const own = `over (partition by ${key}, number)`;
    return {
      sql: `session(t0, ts, ${key}, interval '${gap}') x`,
      theirs: `(select *, min(ts) ${own} as window_start, max(ts) ${own} + interval '${gap}' as window_end from (${breaks}) z) x`,
      keys: [`x.${key}`],
    };
  });

const aggregate = fc.constantFrom(
  ...["count(*)", "sum(x.k)", "max(x.s)", "avg(x.n)", "count(distinct x.i)", "min(x.ts)"],
  ...["string_agg(x.s, ',' order by x.id)", "sum(x.f) filter (where x.b)"],
);

export const windowed: fc.Arbitrary<Pair> = fc
  .tuple(fc.oneof(tumble, hop, session), aggregate, aggregate, fc.nat({ max: 3 }))
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
    return { sql: written?.(sql) ?? "", theirs: written?.(theirs) ?? "" };
  });
