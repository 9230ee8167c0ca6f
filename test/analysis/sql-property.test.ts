import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DerivedQuery, derive } from "#src/analysis/sql/derive.js";
import { evaluateQuery, parseQuery, type ResolvedQuery, resolveQuery, type Tables } from "#src/sql/index.js";
import fc from "../properties.js";
import { COLUMNS, query, TABLES, tables } from "./sql-queries.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 200);

async function read(sql: string): Promise<{ resolved: ResolvedQuery; derived: DerivedQuery }> {
  const resolved = resolveQuery(await parseQuery(sql), sql, COLUMNS);
  return { resolved, derived: derive(resolved) };
}

/** How often each row is in the answer. */
type Bag = Map<string, number>;

function answer(resolved: ResolvedQuery, data: Tables): Bag {
  const bag: Bag = new Map();
  for (const row of evaluateQuery(resolved, data)) {
    const name = JSON.stringify(row);
    bag.set(name, (bag.get(name) ?? 0) + 1);
  }
  return bag;
}

function combined(...parts: readonly (readonly [Bag, number])[]): [string, number][] {
  const sum: Bag = new Map();
  for (const [bag, times] of parts)
    for (const [row, count] of bag) sum.set(row, (sum.get(row) ?? 0) + times * count);
  return [...sum].filter(([, count]) => count !== 0).sort();
}

function isWithin(small: Bag, large: Bag): boolean {
  return [...small].every(([row, count]) => (large.get(row) ?? 0) >= count);
}

function show(bag: Bag): string {
  return JSON.stringify([...bag].sort());
}

/** What attributes in gates are, for a row. */
const PARTS: Readonly<Record<string, (row: Tables[string][number]) => unknown>> = {
  a: ({ a }) => a,
  b: ({ b }) => b,
  "a / 2": ({ a }) => Math.trunc(Number(a) / 2),
  "b / 2": ({ b }) => Math.trunc(Number(b) / 2),
};

/** Several at once, because reading a query takes longer than answering it. */
const many = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 6, maxLength: 6 });

const shuffled = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });

describe("random queries and data agree with what was derived", () => {
  test("a query whose paths are all confluent only grows, in every order of delivery, to one final answer", async () => {
    let confluent = 0;
    const property = fc.asyncProperty(query, many(fc.tuple(tables(true), shuffled)), async (sql, runs) => {
      const { resolved, derived } = await read(sql);
      if (!derived.paths.every(({ annotation }) => annotation.startsWith("C"))) return;
      confluent++;
      for (const [data, keys] of runs) {
        const steps = prefixes(data, keys).map((seen) => ({ seen, bag: answer(resolved, seen) }));
        for (const [i, { seen, bag }] of steps.entries()) {
          const before = steps[i - 1]?.bag ?? new Map();
          assert.ok(isWithin(before, bag), explain(sql, seen, before, bag));
        }
        const last = steps.at(-1)?.bag ?? new Map();
        assert.equal(show(last), show(answer(resolved, data)), sql);
      }
    });
    await fc.assert(property, { numRuns: RUNS });
    assert.ok(confluent > RUNS / 20, `only ${confluent} of ${RUNS} queries were confluent`);
  });

  test("rows that are added on a confluent path take nothing back, whatever the other tables are", async () => {
    const property = fc.asyncProperty(
      query,
      many(fc.tuple(tables(true), tables(true))),
      async (sql, runs) => {
        const { resolved, derived } = await read(sql);
        for (const { from, annotation } of derived.paths) {
          if (!annotation.startsWith("C")) continue;
          for (const [data, more] of runs) {
            const before = answer(resolved, data);
            const grown = { ...data, [from]: [...(data[from] ?? []), ...(more[from] ?? [])] };
            const after = answer(resolved, grown);
            assert.ok(isWithin(before, after), explain(`${from}: ${sql}`, [data, grown], before, after));
          }
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  test("rows that come twice change nothing where they are absorbed, and add only copies where they are passed on", async () => {
    const property = fc.asyncProperty(query, many(fc.tuple(tables(true), fc.nat(31))), async (sql, runs) => {
      const { resolved, derived } = await read(sql);
      for (const { from, repetition } of derived.paths) {
        if (repetition === "minds") continue;
        for (const [data, twice] of runs) {
          const rows = (data[from] ?? []).flatMap((row, i) => ((twice >> i) & 1 ? [row, row] : [row]));
          const once = answer(resolved, data);
          const again = answer(resolved, { ...data, [from]: rows });
          const message = explain(`${from} ${repetition}: ${sql}`, [data, rows], once, again);
          if (repetition === "absorbs") assert.equal(show(again), show(once), message);
          else assert.deepEqual([...again.keys()].sort(), [...once.keys()].sort(), message);
        }
      }
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  test("a path that keeps nothing answers each row by itself", async () => {
    const property = fc.asyncProperty(
      query,
      many(fc.tuple(tables(true), tables(true))),
      async (sql, runs) => {
        const { resolved, derived } = await read(sql);
        for (const { from, annotation } of derived.paths) {
          if (!annotation.endsWith("R")) continue;
          for (const [data, more] of runs)
            assertApart(resolved, data, from, data[from] ?? [], more[from] ?? [], `${from}: ${sql}`);
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  /**
   * What a part of a table does to the answer is the same whatever other parts there are: then a part can be taken as soon
   * as it is sealed. NULL in NOT IN is the exception that its reason names.
   */
  test("the parts that a gate cuts a table into have nothing to do with each other", async () => {
    let gated = 0;
    const property = fc.asyncProperty(query, many(fc.tuple(tables(false), fc.nat(3))), async (sql, runs) => {
      const { resolved, derived } = await read(sql);
      for (const { from, annotation, gate } of derived.paths) {
        const mentions = sql.split(new RegExp(`\\b${from}\\b`)).length - 1;
        if (!annotation.startsWith("O") || gate === "*" || mentions > 1) continue;
        for (const attribute of gate.filter((each) => each in PARTS)) {
          gated++;
          for (const [data, pivot] of runs) {
            const own = data[from] ?? [];
            const one = own.filter((row) => PARTS[attribute]?.(row) === pivot);
            const others = own.filter((row) => PARTS[attribute]?.(row) !== pivot);
            assertApart(resolved, data, from, one, others, `${from} by ${attribute}: ${sql}`);
          }
        }
      }
    });
    await fc.assert(property, { numRuns: RUNS });
    assert.ok(gated > RUNS / 20, `only ${gated} gates in ${RUNS} queries`);
  });

  /** So a seal or a watermark on the input is one on the output: what is complete there can touch nothing else here. */
  test("rows that differ in a column touch answers that differ in what it became, and later rows later answers", async () => {
    let traced = 0;
    const row = fc.record({ a: fc.nat(3), b: fc.nat(3) });
    const property = fc.asyncProperty(query, many(fc.tuple(tables(false), row, row)), async (sql, runs) => {
      const { resolved, derived } = await read(sql);
      const names = resolved.plan.columns.map(({ name }) => name);
      for (const { from, annotation, lineage } of derived.paths) {
        if (!annotation.startsWith("C")) continue; // others use up their seals
        for (const { from: sources, to, injective, orderPreserving } of lineage) {
          const column = sources[0] ?? "";
          const index = names.indexOf(to);
          if (names.lastIndexOf(to) !== index || !(injective || orderPreserving)) continue;
          for (const [data, one, other] of runs) {
            const [x, y] = [one, other].map((each) => Number(each[column as "a" | "b"]));
            if (x === undefined || y === undefined || x >= y) continue;
            const [first, second] = [one, other].map((each) => touched(resolved, data, from, each, index));
            if (first === undefined || second === undefined) continue;
            traced++;
            const message = `${from}.${column} to ${to}: ${sql}\n${JSON.stringify([data, one, other, first, second])}`;
            if (injective) assert.ok(!first.some((each) => second.includes(each)), message);
            const numbers = [...first, ...second].every((each) => typeof each === "number");
            if (orderPreserving && numbers && first.length > 0 && second.length > 0)
              assert.ok(Math.min(...first.map(Number)) <= Math.min(...second.map(Number)), message);
          }
        }
      }
    });
    await fc.assert(property, { numRuns: RUNS });
    assert.ok(traced > RUNS / 20, `only ${traced} columns were traced in ${RUNS} queries`);
  });
});

/** The values of a column in the answers that come or go with one row. */
function touched(
  resolved: ResolvedQuery,
  data: Tables,
  table: string,
  row: Tables[string][number],
  index: number,
) {
  const before = answer(resolved, data);
  const after = answer(resolved, { ...data, [table]: [...(data[table] ?? []), row] });
  return combined([after, 1], [before, -1]).map(([name]): unknown => JSON.parse(name)[index]);
}

/** The tables after each arrival, beginning with none. */
function prefixes(data: Tables, keys: readonly number[]): Tables[] {
  const arrivals = TABLES.flatMap((table) => (data[table] ?? []).map((row) => ({ table, row })))
    .map((arrival, i) => ({ ...arrival, key: keys[i % keys.length] ?? 0 }))
    .sort((x, y) => x.key - y.key);
  return [...arrivals, null].map((_, count) => {
    const seen = arrivals.slice(0, count);
    const of = (name: string) => seen.filter(({ table }) => table === name).map(({ row }) => row);
    return Object.fromEntries(TABLES.map((table) => [table, of(table)]));
  });
}

/** The answer to both parts is that to one and that to the other, counting only once what neither makes. */
function assertApart(
  resolved: ResolvedQuery,
  data: Tables,
  table: string,
  one: Tables[string],
  other: Tables[string],
  message: string,
): void {
  const to = (rows: Tables[string]) => answer(resolved, { ...data, [table]: rows });
  const whole = combined([to([...one, ...other]), 1], [to([]), 1]);
  const parts = combined([to(one), 1], [to(other), 1]);
  assert.deepEqual(whole, parts, `${message}\n${JSON.stringify([data, one, other])}`);
}

function explain(what: string, data: unknown, before: Bag, after: Bag): string {
  return `${what}\n${JSON.stringify(data)}\n${show(before)}\n${show(after)}`;
}
