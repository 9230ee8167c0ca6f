import type { Scalar } from "./ast.js";
import { compare, evaluateExpression, type Row, type Sight } from "./evaluate-expression.js";
import { parseQuery } from "./parse.js";
import type { Aggregate, Plan, PlanExpression, ResolvedQuery, SortKey } from "./plan.js";
import { resolveQuery } from "./resolve.js";

export type Tables = Readonly<Record<string, readonly Readonly<Record<string, Scalar>>[]>>;

/** A query as a function from the rows of its tables to the rows of its answer. */
export async function queryFunction(
  sql: string,
  columns: Readonly<Record<string, readonly string[]>>,
): Promise<(tables: Tables, parameters?: readonly Scalar[]) => Row[]> {
  const query = resolveQuery(await parseQuery(sql), sql, columns);
  return (tables, parameters) => evaluateQuery(query, tables, parameters);
}

/**
 * What a query answers, by the book: every operator looks at all its rows. It is slow and short, because others are
 * compared with it. The answer is a function of the multisets of rows, never of their order.
 */
export function evaluateQuery(
  query: ResolvedQuery,
  tables: Tables,
  parameters: readonly Scalar[] = [],
): Row[] {
  return rowsOf(query.plan, []);

  function sight(rows: readonly Row[]): Sight {
    return { rows, parameters, query: rowsOf };
  }

  function rowsOf(plan: Plan, outer: readonly Row[]): Row[] {
    const value = (row: Row, expression: PlanExpression) =>
      evaluateExpression(sight([row, ...outer]), expression);
    switch (plan.kind) {
      case "unit":
        return [[]];
      case "scan": {
        const names = query.tables[plan.table] ?? [];
        return (tables[plan.table] ?? []).map((row) => names.map((name) => row[name] ?? null));
      }
      case "window":
        return windowed(plan, rowsOf(plan.input, outer));
      case "filter":
        return rowsOf(plan.input, outer).filter((row) => value(row, plan.predicate) === true);
      case "project":
        return rowsOf(plan.input, outer).map((row) =>
          plan.outputs.map(({ expression }) => value(row, expression)),
        );
      case "join": {
        const right = rowsOf(plan.right, outer);
        const { on } = plan;
        return rowsOf(plan.left, outer).flatMap((row) => {
          const pairs = right.map((other) => [...row, ...other]);
          const matches = on === null ? pairs : pairs.filter((pair) => value(pair, on) === true);
          const lone = [...row, ...plan.right.columns.map(() => null)];
          return matches.length > 0 || plan.join === "inner" ? matches : [lone];
        });
      }
      case "aggregate": {
        const groups = new Map<string, { key: Row; rows: Row[] }>();
        if (!plan.grouped) groups.set("[]", { key: [], rows: [] });
        for (const row of rowsOf(plan.input, outer)) {
          const key = plan.keys.map((each) => value(row, each));
          const name = JSON.stringify(key);
          const group = groups.get(name) ?? { key, rows: [] };
          groups.set(name, group);
          group.rows.push(row);
        }
        return [...groups.values()].map(({ key, rows }) => [
          ...key,
          ...plan.aggregates.map((each) => aggregated(each, rows, value)),
        ]);
      }
      case "distinct":
        return distinct(rowsOf(plan.input, outer));
      case "union":
        return [...rowsOf(plan.left, outer), ...rowsOf(plan.right, outer)];
      case "limit": {
        const sorted = rowsOf(plan.input, outer).sort((a, b) => inOrder(plan.order, a, b));
        return sorted.slice(plan.offset, plan.limit === null ? undefined : plan.offset + plan.limit);
      }
    }
  }
}

function aggregated(
  { name, operand, distinct: once }: Aggregate,
  rows: readonly Row[],
  value: (row: Row, expression: PlanExpression) => Scalar,
): Scalar {
  if (operand === null) return rows.length;
  const all = rows.map((row) => value(row, operand)).filter((each) => each !== null);
  const values = (once ? [...new Set(all)] : all).sort(compare); // sorted, so that no sum depends on an order
  if (name === "count") return values.length;
  if (values.length === 0) return null;
  if (name === "min") return values[0] ?? null;
  if (name === "max") return values.at(-1) ?? null;
  if (name === "bool_and") return values.every((each) => each === true);
  if (name === "bool_or") return values.includes(true);
  const sum = values.reduce<number>((total, each) => total + (typeof each === "number" ? each : 0), 0);
  return name === "sum" ? sum : sum / values.length;
}

function distinct(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

/** Rows that the keys do not tell apart stand in the order of all their columns. */
function inOrder(order: readonly SortKey[], a: Row, b: Row): number {
  for (const { index, descending, nullsFirst } of order) {
    const [x = null, y = null] = [a[index], b[index]];
    if (x === null && y === null) continue;
    if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
    const difference = compare(x, y);
    if (difference !== 0) return descending ? -difference : difference;
  }
  return compare(JSON.stringify(a), JSON.stringify(b));
}

type WindowPlan = Extract<Plan, { kind: "window" }>;

/** A row without a time is in no window. */
function windowed(plan: WindowPlan, rows: readonly Row[]): Row[] {
  const timed = rows.filter((row) => typeof row[plan.time] === "number");
  if (plan.window === "session") return sessions(plan, timed);
  return timed.flatMap((row) => {
    const last = Math.floor(Number(row[plan.time]) / plan.slideMs) * plan.slideMs;
    const starts = Array.from({ length: plan.sizeMs / plan.slideMs }, (_, i) => last - i * plan.slideMs);
    return starts.map((start) => [...row, start, start + plan.sizeMs]);
  });
}

/** Rows with the same keys are in one session if no gap between neighbours reaches the size. */
function sessions(plan: WindowPlan, rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(plan.keys.map((index) => row[index]));
    byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  const time = (row: Row | undefined) => Number(row?.[plan.time]);
  return [...byKey.values()].flatMap((all) => {
    const sorted = all.toSorted((a, b) => time(a) - time(b));
    const groups: Row[][] = [];
    for (const row of sorted) {
      const open = groups.at(-1);
      if (open !== undefined && time(row) - time(open.at(-1)) < plan.sizeMs) open.push(row);
      else groups.push([row]);
    }
    return groups.flatMap((group) =>
      group.map((row) => [...row, time(group[0]), time(group.at(-1)) + plan.sizeMs]),
    );
  });
}
