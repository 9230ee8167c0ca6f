import { HeadwaterError } from "../../errors.js";
import type { Expression, Query } from "./ast.js";
import type { Aggregate, AggregateName, Plan, PlanExpression } from "./plan.js";
import { type Scope, senseless } from "./scope.js";
import { pointAt, type Span } from "./source.js";

const AGGREGATES: Readonly<Record<string, AggregateName>> = {
  count: "count",
  sum: "sum",
  avg: "avg",
  min: "min",
  max: "max",
  bool_and: "bool_and",
  every: "bool_and",
  bool_or: "bool_or",
};

/** How many operands each function takes. */
const FUNCTIONS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  abs: [1, 1],
  floor: [1, 1],
  ceil: [1, 1],
  ceiling: [1, 1],
  round: [1, 1],
  trunc: [1, 1],
  lower: [1, 1],
  upper: [1, 1],
  length: [1, 1],
  coalesce: [1, 100],
  greatest: [1, 100],
  least: [1, 100],
  date_trunc: [2, 2],
  extract: [2, 2],
};

/** What GROUP BY made of the rows: the keys, and the aggregates as they are found in SELECT, HAVING and ORDER BY. */
export interface Grouping {
  readonly keys: readonly PlanExpression[];
  readonly aggregates: Aggregate[];
  /** The names before the grouping: keys and operands of aggregates are about them. */
  readonly before: Scope;
}

export interface ResolveContext {
  readonly text: string;
  readonly subquery: (query: Query, outer: Scope) => Plan;
  readonly parameter: () => void;
}

export function resolveExpression(
  context: ResolveContext,
  expression: Expression,
  scope: Scope,
  grouping: Grouping | null,
): PlanExpression {
  const { span } = expression;
  const again = (each: Expression) => resolveExpression(context, each, scope, grouping);
  if (grouping !== null) {
    const key = keyOf(context, expression, grouping);
    if (key !== null) return { kind: "column", index: key, depth: 0, span };
  }
  switch (expression.kind) {
    case "column":
      return { kind: "column", ...scope.find(expression), span };
    case "constant":
      return { kind: "constant", value: expression.value, span };
    case "parameter":
      context.parameter();
      return { kind: "parameter", number: expression.number, span };
    case "operator":
      return {
        kind: "operator",
        operator: expression.operator,
        operands: expression.operands.map(again),
        span,
      };
    case "cast":
      return { kind: "cast", type: expression.type, operand: again(expression.operand), span };
    case "case":
      return {
        kind: "case",
        branches: expression.branches.map(({ when, result }) => ({
          when: again(when),
          result: again(result),
        })),
        otherwise: expression.otherwise === null ? null : again(expression.otherwise),
        span,
      };
    case "call":
      return AGGREGATES[expression.name] === undefined
        ? functionCall(context, expression, again)
        : aggregate(context, expression, grouping);
    case "exists":
      return { kind: "exists", plan: context.subquery(expression.query, scope), span };
    case "in": {
      const plan = oneColumn(context, context.subquery(expression.query, scope), expression.query.span);
      return { kind: "in", operand: again(expression.operand), plan, span };
    }
    case "scalar": {
      const plan = oneColumn(context, context.subquery(expression.query, scope), span);
      // Otherwise the number of rows would decide whether there is an answer or an error.
      if (plan.kind !== "project" || plan.input.kind !== "aggregate" || plan.input.grouped)
        throw refusal(
          context.text,
          span,
          "A query that stands for a value must be one aggregate without GROUP BY.",
        );
      return { kind: "scalar", plan, span };
    }
  }
}

/** Whether an aggregate is used, outside of subqueries. */
export function usesAggregate(expression: Expression): boolean {
  switch (expression.kind) {
    case "call":
      return AGGREGATES[expression.name] !== undefined || expression.operands.some(usesAggregate);
    case "operator":
      return expression.operands.some(usesAggregate);
    case "cast":
    case "in":
      return usesAggregate(expression.operand);
    case "case":
      return [
        ...expression.branches.flatMap(({ when, result }) => [when, result]),
        ...(expression.otherwise === null ? [] : [expression.otherwise]),
      ].some(usesAggregate);
    default:
      return false;
  }
}

/** The same expression, wherever it is written. */
export function sameExpression(a: unknown, b: unknown): boolean {
  const shape = (key: string, value: unknown) => (key === "span" ? undefined : value);
  return JSON.stringify(a, shape) === JSON.stringify(b, shape);
}

function keyOf(context: ResolveContext, expression: Expression, grouping: Grouping): number | null {
  if (expression.kind === "constant" || usesAggregate(expression) || hasSubquery(expression)) return null;
  let plain: PlanExpression;
  try {
    plain = resolveExpression(context, expression, grouping.before, null);
  } catch (error) {
    // The same expression is looked at again after this, part by part, and refused there with its reason.
    if (error instanceof HeadwaterError) return null;
    throw error;
  }
  const index = grouping.keys.findIndex((key) => sameExpression(key, plain));
  return index < 0 ? null : index;
}

function hasSubquery(expression: Expression): boolean {
  return /"kind":"(exists|in|scalar)"/.test(JSON.stringify(expression));
}

function aggregate(
  context: ResolveContext,
  call: Extract<Expression, { kind: "call" }>,
  grouping: Grouping | null,
): PlanExpression {
  const { text } = context;
  const name = AGGREGATES[call.name] ?? "count";
  if (grouping === null)
    throw senseless(
      text,
      call.span,
      `${call.name}() is an aggregate: it can stand in SELECT, HAVING and ORDER BY, and not inside another one.`,
    );
  const [operand] = call.operands;
  if (call.operands.length !== (call.star ? 0 : 1) || (call.star && name !== "count"))
    throw senseless(text, call.span, `${call.name}() takes one operand.`);
  const resolved = operand === undefined ? null : resolveExpression(context, operand, grouping.before, null);
  if (resolved !== null && /"depth":[1-9]/.test(JSON.stringify(resolved)))
    throw refusal(text, call.span, "An aggregate over columns of the query around it is not supported.");
  const found: Aggregate = { name, operand: resolved, distinct: call.distinct, span: call.span };
  let index = grouping.aggregates.findIndex((each) => sameExpression(each, found));
  if (index < 0) index = grouping.aggregates.push(found) - 1;
  return { kind: "column", index: grouping.keys.length + index, depth: 0, span: call.span };
}

function functionCall(
  context: ResolveContext,
  call: Extract<Expression, { kind: "call" }>,
  again: (each: Expression) => PlanExpression,
): PlanExpression {
  const arity = Object.hasOwn(FUNCTIONS, call.name) ? FUNCTIONS[call.name] : undefined;
  if (arity === undefined || call.distinct || call.star) {
    const known = [...Object.keys(AGGREGATES), ...Object.keys(FUNCTIONS)].join(", ");
    throw refusal(
      context.text,
      call.span,
      `The function ${call.name}() is not supported; there are ${known}.`,
    );
  }
  const [least, most] = arity;
  if (call.operands.length < least || call.operands.length > most)
    throw senseless(
      context.text,
      call.span,
      `${call.name}() takes ${least} operand${least === 1 ? "" : "s"}.`,
    );
  return { kind: "call", name: call.name, operands: call.operands.map(again), span: call.span };
}

function oneColumn(context: ResolveContext, plan: Plan, span: Span): Plan {
  if (plan.columns.length === 1) return plan;
  throw senseless(
    context.text,
    span,
    `This query gives ${plan.columns.length} columns; one is expected here.`,
  );
}

export function refusal(text: string, span: Span, what: string): HeadwaterError {
  return new HeadwaterError("HW-5102", pointAt(text, span, what));
}
