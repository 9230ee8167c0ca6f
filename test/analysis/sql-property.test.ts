import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type DerivedQuery, derive } from "#src/analysis/sql/derive.js";
import { evaluateQuery, type Tables } from "#src/analysis/sql/evaluate.js";
import { parseQuery } from "#src/analysis/sql/parse.js";
import type { ResolvedQuery } from "#src/analysis/sql/plan.js";
import { resolveQuery } from "#src/analysis/sql/resolve.js";
import { COLUMNS, query, TABLES, type TableName, tables } from "./sql-queries.js";

const RUNS = Number(process.env.HEADWATER_SQL_RUNS ?? 400);

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

const shuffled = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });

describe("random queries and data agree with what was derived", () => {
  test("a query whose paths are all confluent only grows, in every order of delivery, to one final answer", async () => {
    let confluent = 0;
    await fc.assert(
      fc.asyncProperty(query, tables(true), shuffled, async (sql, data, keys) => {
        const { resolved, derived } = await read(sql);
        if (!derived.paths.every(({ annotation }) => annotation.startsWith("C"))) return;
        confluent++;
        const arrivals = TABLES.flatMap((table) => (data[table] ?? []).map((row) => ({ table, row })));
        const order = arrivals
          .map((each, i) => ({ each, key: keys[i % keys.length] ?? 0 }))
          .sort((x, y) => x.key - y.key)
          .map(({ each }) => each);
        const seen: Record<TableName, Record<string, string | number | boolean | null>[]> = {
          r: [],
          s: [],
          t: [],
        };
        let before: Bag = new Map();
        for (const { table, row } of [null, ...order].map((each) => each ?? { table: null, row: {} })) {
          if (table !== null) seen[table].push(row);
          const after = answer(resolved, seen);
          assert.ok(
            isWithin(before, after),
            `${sql}\n${JSON.stringify(seen)}\n${show(before)}\n${show(after)}`,
          );
          before = after;
        }
        assert.deepEqual(combined([before, 1]), combined([answer(resolved, data), 1]));
      }),
      { numRuns: RUNS },
    );
    assert.ok(confluent > RUNS / 20, `only ${confluent} of ${RUNS} queries were confluent`);
  });

  test("rows that are added to a table on a confluent path take nothing back, whatever the other tables are", async () => {
    await fc.assert(
      fc.asyncProperty(query, tables(true), tables(true), async (sql, data, more) => {
        const { resolved, derived } = await read(sql);
        for (const { from, annotation } of derived.paths) {
          if (!annotation.startsWith("C")) continue;
          const before = answer(resolved, data);
          const grown = { ...data, [from]: [...(data[from] ?? []), ...(more[from] ?? [])] };
          const after = answer(resolved, grown);
          assert.ok(
            isWithin(before, after),
            `${from}: ${sql}\n${JSON.stringify([data, grown])}\n${show(before)}\n${show(after)}`,
          );
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("rows that come twice change nothing where they are absorbed, and add only copies where they are passed on", async () => {
    await fc.assert(
      fc.asyncProperty(query, tables(true), fc.nat({ max: 15 }), async (sql, data, twice) => {
        const { resolved, derived } = await read(sql);
        for (const { from, repetition } of derived.paths) {
          if (repetition === "minds") continue;
          const rows = (data[from] ?? []).flatMap((row, i) => ((twice >> i) & 1 ? [row, row] : [row]));
          const once = answer(resolved, data);
          const again = answer(resolved, { ...data, [from]: rows });
          const message = `${from} ${repetition}: ${sql}\n${JSON.stringify([data, rows])}`;
          if (repetition === "absorbs") assert.equal(show(again), show(once), message);
          else assert.deepEqual([...again.keys()].sort(), [...once.keys()].sort(), message);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("a path that keeps nothing answers each row by itself", async () => {
    await fc.assert(
      fc.asyncProperty(query, tables(true), tables(true), async (sql, data, more) => {
        const { resolved, derived } = await read(sql);
        for (const { from, annotation } of derived.paths) {
          if (!annotation.endsWith("R")) continue;
          const [a, b] = [data[from] ?? [], more[from] ?? []];
          const whole = answer(resolved, { ...data, [from]: [...a, ...b] });
          const parts = [a, b, []].map((rows) => answer(resolved, { ...data, [from]: rows }));
          const [first = new Map(), second = new Map(), none = new Map()] = parts;
          assert.deepEqual(
            combined([whole, 1], [none, 1]),
            combined([first, 1], [second, 1]),
            `${from}: ${sql}`,
          );
        }
      }),
      { numRuns: RUNS },
    );
  });

  /**
   * What a part of a table does to the answer is the same whatever other parts there are: then a part can be taken as soon
   * as it is sealed. NULL in NOT IN is the exception that its reason names.
   */
  test("the parts that a gate cuts a table into have nothing to do with each other", async () => {
    let gated = 0;
    await fc.assert(
      fc.asyncProperty(query, tables(false), fc.nat({ max: 3 }), async (sql, data, pivot) => {
        const { resolved, derived } = await read(sql);
        for (const { from, annotation, gate } of derived.paths) {
          const mentions = sql.split(new RegExp(`\\b${from}\\b`)).length - 1;
          if (!annotation.startsWith("O") || gate === "*" || mentions > 1) continue;
          for (const attribute of gate.filter((each) => ["a", "b"].includes(each))) {
            gated++;
            const own = data[from] ?? [];
            const one = own.filter((row) => row[attribute] === pivot);
            const others = own.filter((row) => row[attribute] !== pivot);
            const [whole, first, second, none] = [own, one, others, []].map((rows) =>
              answer(resolved, { ...data, [from]: rows }),
            );
            assert.ok(whole && first && second && none);
            assert.deepEqual(
              combined([whole, 1], [none, 1]),
              combined([first, 1], [second, 1]),
              `${from} by ${attribute}: ${sql}\n${JSON.stringify(data)}`,
            );
          }
        }
      }),
      { numRuns: RUNS },
    );
    assert.ok(gated > RUNS / 20, `only ${gated} gates in ${RUNS} queries`);
  });
});
