import { HeadwaterError } from "../../errors.js";
import type { SqlExpression } from "../ast.js";
import type { LogicalPlan, PlanExpression } from "../plan.js";
import type { Span } from "../source.js";
import { arrayOf, type ScalarType } from "../types.js";
import { AGGREGATE_NAMES, isAggregate, typedAggregate, usesAggregate } from "./aggregate.js";
import { typedCall } from "./call.js";
import type { ExpressionPlace, GroupScope, ResolveContext } from "./context.js";
import { compared, typedOperator } from "./operator.js";
import { typedOver } from "./over.js";
import { senseless } from "./refusals.js";
import { sameExpression } from "./same.js";
import { theOnlyRow } from "./single.js";

/** An expression with its names looked up and its types decided. */
export function resolveExpression(
  context: ResolveContext,
  expression: SqlExpression,
  place: ExpressionPlace,
): PlanExpression {
  const { text, typing } = context;
  const { span } = expression;
  const again = (each: SqlExpression) => resolveExpression(context, each, place);
  if (place.grouping !== null) {
    const key = keyOf(context, expression, place.grouping);
    if (key !== null) return key;
  }
  switch (expression.kind) {
    case "column": {
      const { index, depth, column } = place.scope.find(expression);
      return { kind: "column", index, depth, type: column.type, nullable: column.nullable, span };
    }
    case "constant":
      return typing.constant(expression.value, expression.type, span);
    case "parameter":
      return typing.parameter(expression.number, span);
    case "operator":
      return typedOperator(typing, text, expression.operator, expression.operands.map(again), span);
    case "cast":
      return typing.cast(again(expression.operand), expression.type, span);
    case "case":
      return resolveCase(context, expression, again);
    case "array": {
      const elements = typing.alike(expression.elements.map(again), "ARRAY");
      const type = arrayOf((elements[0]?.type ?? "text") as ScalarType);
      return { kind: "call", name: "array", operands: elements, type, nullable: false, span };
    }
    case "call":
      if (expression.over !== null) return typedOver(context, expression, place, again);
      if (isAggregate(expression.name)) return typedAggregate(context, expression, place.grouping, inGroup);
      return typedCall(typing, text, expression, expression.operands.map(again), AGGREGATE_NAMES);
    case "exists": {
      const plan = context.subquery(expression.query, place.scope);
      return { kind: "exists", plan, type: "bool", nullable: false, span };
    }
    case "in":
      return resolveMembership(context, expression, place, again);
    case "scalar":
      return resolveScalar(context, context.subquery(expression.query, place.scope), span);
  }

  function inGroup(each: SqlExpression, grouping: GroupScope): PlanExpression {
    return resolveExpression(context, each, { scope: grouping.before, grouping: null, overs: null });
  }
}

function resolveCase(
  { typing }: ResolveContext,
  { branches, otherwise, span }: Extract<SqlExpression, { kind: "case" }>,
  again: (each: SqlExpression) => PlanExpression,
): PlanExpression {
  const conditions = branches.map(({ when }) => typing.truth(again(when), "WHEN"));
  const results = branches.map(({ result }) => again(result));
  const last = otherwise === null ? [] : [again(otherwise)];
  const alike = typing.alike([...results, ...last], "CASE");
  const otherwiseOf = last.length === 0 ? null : (alike.at(-1) ?? null);
  return {
    kind: "case",
    branches: conditions.flatMap((when, i) => {
      const result = alike[i];
      return result === undefined ? [] : [{ when, result }];
    }),
    otherwise: otherwiseOf,
    type: alike[0]?.type ?? "text",
    nullable: otherwiseOf === null || alike.some(({ nullable }) => nullable),
    span,
  };
}

function resolveMembership(
  context: ResolveContext,
  { comparison, operands, query, span }: Extract<SqlExpression, { kind: "in" }>,
  { scope }: ExpressionPlace,
  again: (each: SqlExpression) => PlanExpression,
): PlanExpression {
  const { text, typing } = context;
  const plan = context.subquery(query, scope);
  if (plan.columns.length !== operands.length)
    throw senseless(
      text,
      query.span,
      `This query gives ${plan.columns.length} columns; ${operands.length === 1 ? "one is" : `${operands.length} are`} expected here.`,
    );
  const pairs = operands.map((operand, index) => {
    const { type = "untyped", nullable = true } = plan.columns[index] ?? {};
    const column: PlanExpression = { kind: "column", index, depth: 0, type, nullable, span: query.span };
    const [left, right] = compared(typing, text, [again(operand), column], span, comparison);
    return { left: left ?? column, right: right ?? column };
  });
  const converted = pairs.some(({ right }) => right.kind !== "column");
  const outputs = pairs.map(({ right }, i) => ({ name: plan.columns[i]?.name ?? "", expression: right }));
  const columns = outputs.map(({ name, expression: { type, nullable } }) => ({ name, type, nullable }));
  return {
    kind: "in",
    comparison,
    operands: pairs.map(({ left }) => left),
    plan: converted ? { kind: "project", input: plan, outputs, columns, span: plan.span } : plan,
    type: "bool",
    nullable: pairs.some(({ left, right }) => left.nullable || right.nullable),
    span,
  };
}

function resolveScalar({ text }: ResolveContext, plan: LogicalPlan, span: Span): PlanExpression {
  const [column, ...more] = plan.columns;
  if (column === undefined || more.length > 0)
    throw senseless(text, span, `This query gives ${plan.columns.length} columns; one is expected here.`);
  const single = plan.kind === "project" && plan.input.kind === "aggregate" && !plan.input.grouped;
  return single
    ? { kind: "scalar", plan, type: column.type, nullable: column.nullable, span }
    : { kind: "scalar", plan: theOnlyRow(plan, column, span), type: column.type, nullable: true, span };
}

/** After GROUP BY, an expression that is one of its keys is a column. */
function keyOf(
  context: ResolveContext,
  expression: SqlExpression,
  grouping: GroupScope,
): PlanExpression | null {
  if (expression.kind === "constant" || usesAggregate(expression)) return null;
  if (hasSubquery(expression)) return keyAsWritten(expression, grouping);
  let plain: PlanExpression;
  try {
    plain = resolveExpression(context, expression, { scope: grouping.before, grouping: null, overs: null });
  } catch (error) {
    // The same expression is looked at again after this, part by part, and refused there with its reason.
    if (error instanceof HeadwaterError) return null;
    throw error;
  }
  const index = grouping.keys.findIndex((key) => sameExpression(key, plain));
  if (index < 0) return null;
  const { type, nullable, span } = plain;
  return { kind: "column", index, depth: 0, type, nullable, span };
}

/** A subquery is the same if it has the same words; each time that it is resolved, it reads tables of its own. */
function keyAsWritten(expression: SqlExpression, { keys, written }: GroupScope): PlanExpression | null {
  const index = written.findIndex((each) => sameExpression(each, expression));
  const key = keys[index];
  if (key === undefined) return null;
  const { type, nullable } = key;
  return { kind: "column", index, depth: 0, type, nullable, span: expression.span };
}

function hasSubquery(expression: SqlExpression): boolean {
  return /"kind":"(exists|in|scalar)"/.test(JSON.stringify(expression));
}
