import type { AggregateCall, LogicalPlan, PlanExpression } from "../plan.js";
import type { SqlColumn } from "../schema.js";
import type { Span } from "../source.js";

/**
 * A subquery in the place of a value that is no aggregate, as one: the value of its only row, NULL if it has none. More than one row
 * are an error of the row that asks, as in PostgreSQL, so that no order of the rows decides which of them it is.
 */
export function theOnlyRow(input: LogicalPlan, { name, type }: SqlColumn, span: Span): LogicalPlan {
  const value: PlanExpression = { kind: "column", index: 0, depth: 0, type, nullable: true, span };
  const isJson = type === "json" || type === "jsonb";
  const operand: PlanExpression = isJson ? { ...value, kind: "cast", operand: value, type: "text" } : value;
  const shared = { distinct: false, filter: null, order: [], span } as const;
  const aggregates: AggregateCall[] = [
    { ...shared, name: "count", operands: [], type: "int8", nullable: false },
    {
      ...shared,
      name: type === "bool" ? "bool_and" : "min",
      operands: [operand],
      type: operand.type,
      nullable: true,
    },
  ];
  const [count, found] = aggregates.map((each, index): PlanExpression => {
    return { kind: "column", index, depth: 0, type: each.type, nullable: each.nullable, span };
  });
  if (count === undefined || found === undefined) return input;
  const when: PlanExpression = {
    ...{ kind: "call", name: ":single", operands: [count], type: "bool", nullable: false, span },
  };
  const result: PlanExpression = isJson ? { ...value, kind: "cast", operand: found } : found;
  const expression: PlanExpression = {
    ...{ kind: "case", branches: [{ when, result }], otherwise: null, type, nullable: true, span },
  };
  const columns = aggregates.map((each) => ({ name: "", type: each.type, nullable: each.nullable }));
  return {
    kind: "project",
    input: { kind: "aggregate", input, grouped: false, keys: [], aggregates, columns, span },
    outputs: [{ name, expression }],
    columns: [{ name, type, nullable: true }],
    span,
  };
}
