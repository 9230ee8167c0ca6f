import type { Scalar } from "../ast.js";
import { parseQuery } from "../parse/statement.js";
import type { LogicalPlan, PlanExpression, ResolvedQuery } from "../plan.js";
import { resolveQuery } from "../resolve/query.js";
import type { SqlColumn, SqlSchema } from "../schema.js";
import { literal } from "../values/literal.js";
import { aggregateRows } from "./aggregate.js";
import { evaluateExpression, type Row, type Sight } from "./expression.js";
import type { EvaluationFailure } from "./failure.js";
import { joinedRows } from "./join.js";
import { overRows } from "./over.js";
import { combinedRows, distinctOnRows, distinctRows } from "./sets.js";
import { sorted, withTypes } from "./sort.js";
import { windowRows } from "./window.js";

export type Tables = Readonly<Record<string, readonly Readonly<Record<string, Scalar>>[]>>;

/** A query as a function from the rows of its tables to the rows of its answer. */
export async function queryFunction(
  sql: string,
  schema: SqlSchema,
): Promise<(tables: Tables, parameters?: readonly Scalar[]) => Row[]> {
  const query = resolveQuery(await parseQuery(sql), sql, schema);
  return (tables, parameters) => evaluateQuery(query, tables, parameters);
}

/**
 * What a query answers, by the book: every operator looks at all its rows. It is slow and short, because others are
 * compared with it. The answer is a function of the multisets of rows, never of their order. Where PostgreSQL would refuse to
 * go on, a value is NULL and `failed` is told why.
 */
export function evaluateQuery(
  query: ResolvedQuery,
  tables: Tables,
  parameters: readonly Scalar[] = [],
  failed: (failure: EvaluationFailure) => void = () => {},
): Row[] {
  const fail = (failure: EvaluationFailure) => {
    failed(failure);
    return null;
  };
  return rowsOf(query.plan, []);

  function rowsOf(plan: LogicalPlan, outer: readonly Row[]): Row[] {
    const value = (row: Row, expression: PlanExpression) => {
      const sight: Sight = { rows: [row, ...outer], parameters, query: rowsOf, fail };
      return evaluateExpression(sight, expression);
    };
    const again = (input: LogicalPlan) => rowsOf(input, outer);
    switch (plan.kind) {
      case "unit":
        return [[]];
      case "values":
        return plan.rows.map((row) => row.map((each) => value([], each)));
      case "scan": {
        const columns = query.tables[plan.table] ?? [];
        return (tables[plan.table] ?? []).map((row) =>
          columns.map((column) => admitted(row[column.name], column)),
        );
      }
      case "window":
        return windowRows(plan, again(plan.input));
      case "filter":
        return again(plan.input).filter((row) => value(row, plan.predicate) === true);
      case "project":
        return again(plan.input).map((row) => plan.outputs.map(({ expression }) => value(row, expression)));
      case "join": {
        const { on } = plan;
        const matches = (pair: Row) => on === null || value(pair, on) === true;
        return joinedRows(plan, again(plan.left), again(plan.right), matches);
      }
      case "aggregate":
        return aggregateRows(plan, again(plan.input), value);
      case "over":
        return overRows(plan.functions, again(plan.input), value);
      case "distinct":
        return distinctRows(plan.columns, again(plan.input));
      case "distinct on":
        return distinctOnRows(plan, again(plan.input));
      case "union":
        return [...again(plan.left), ...again(plan.right)];
      case "set operation":
        return combinedRows(plan, again(plan.left), again(plan.right));
      case "limit": {
        const rows = sorted(withTypes(plan.order, plan.columns), again(plan.input));
        return rows.slice(plan.offset, plan.limit === null ? undefined : plan.offset + plan.limit);
      }
    }
  }
}

/** A value as its type holds it: a table may give a time as a text, and a numeric as a number. */
function admitted(value: Scalar | undefined, { type }: SqlColumn): Scalar {
  if (value === undefined || value === null || type === "untyped" || type === "text") return value ?? null;
  if (type === "numeric" && typeof value === "number") return literal(String(value), type) ?? null;
  return typeof value === "string" ? (literal(value, type) ?? null) : value;
}
