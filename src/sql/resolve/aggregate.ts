import type { FunctionCall, SqlExpression } from "../ast.js";
import { type UserAggregate, userAggregate } from "../builtins/index.js";
import { aggregateSignatures } from "../catalog/index.js";
import type { AggregateCall, AggregateName, PlanExpression, SortExpression } from "../plan.js";
import { arrayOf, type ScalarType, type SqlType } from "../types.js";
import type { GroupScope, ResolveContext } from "./context.js";
import { applied } from "./operator.js";
import { refusal, senseless } from "./refusals.js";
import { sameExpression } from "./same.js";

const NAMES: readonly AggregateName[] = [
  "count",
  "sum",
  "avg",
  "min",
  "max",
  "bool_and",
  "bool_or",
  "string_agg",
  "array_agg",
];

export const AGGREGATE_NAMES: readonly string[] = NAMES;

export function isAggregate(name: string): boolean {
  return AGGREGATE_NAMES.includes(name) || userAggregate(name) !== undefined;
}

/** Whether an aggregate is used, outside of subqueries and OVER. */
export function usesAggregate(expression: SqlExpression): boolean {
  switch (expression.kind) {
    case "call": {
      const own = expression.over === null && isAggregate(expression.name);
      const { operands, over } = expression;
      const others = [...(over?.partition ?? []), ...(over?.order ?? []).map((item) => item.expression)];
      return own || [...operands, ...others].some(usesAggregate);
    }
    case "operator":
    case "in":
      return expression.operands.some(usesAggregate);
    case "array":
      return expression.elements.some(usesAggregate);
    case "cast":
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

type ResolveInGroup = (expression: SqlExpression, grouping: GroupScope) => PlanExpression;

/** An aggregate becomes a column of the groups; equal ones are computed once. */
export function typedAggregate(
  context: ResolveContext,
  call: FunctionCall,
  grouping: GroupScope | null,
  resolve: ResolveInGroup,
): PlanExpression {
  const { text } = context;
  const { name, span } = call;
  if (grouping === null)
    throw senseless(
      text,
      span,
      `${name}() is an aggregate: it can stand in SELECT, HAVING and ORDER BY, and not inside another one.`,
    );
  const made = aggregateOf(context, call, (each) => resolve(each, grouping));
  const found = grouping.keys.length === 0 ? made : { ...made, nullable: nullableInGroup(made) };
  let index = grouping.aggregates.findIndex((each) => sameExpression(each, found));
  if (index < 0) index = grouping.aggregates.push(found) - 1;
  const { type, nullable } = found;
  return { kind: "column", index: grouping.keys.length + index, depth: 0, type, nullable, span };
}

/** In SQL, an aggregate over columns of the query around it alone is one of that query. */
function checkOwn({ text }: ResolveContext, { span }: FunctionCall, parts: readonly PlanExpression[]): void {
  const depths = depthsIn(parts, 0);
  if (depths.length > 0 && !depths.includes(0))
    throw refusal(
      text,
      span,
      "An aggregate over columns of the query around it alone belongs to that query. Compute it there, in a subquery of FROM.",
    );
}

/** How far out the columns of some expressions are, also those inside of subqueries, but for the subqueries' own. */
function depthsIn(part: unknown, nesting: number): number[] {
  if (Array.isArray(part)) return part.flatMap((each) => depthsIn(each, nesting));
  if (typeof part !== "object" || part === null) return [];
  if ("kind" in part && part.kind === "column" && "depth" in part && typeof part.depth === "number")
    return part.depth < nesting ? [] : [part.depth - nesting];
  return Object.entries(part).flatMap(([name, each]) =>
    name === "span" ? [] : depthsIn(each, name === "plan" ? nesting + 1 : nesting),
  );
}

/** A group has at least one row. */
function nullableInGroup({ name, operands, filter, nullable }: AggregateCall): boolean {
  const counted = name === "array_agg" ? [] : operands;
  if (name === "user") return nullable;
  return nullable && (filter !== null || counted.some((each) => each.nullable));
}

/** The aggregate of a call, over rows or over a window. */
export function aggregateOf(
  context: ResolveContext,
  call: FunctionCall,
  resolve: (expression: SqlExpression) => PlanExpression,
): AggregateCall {
  const { text, typing } = context;
  const { span, distinct } = call;
  const user = userAggregate(call.name);
  if (user !== undefined) return userCall(context, call, user, resolve);
  const name = call.name as AggregateName;
  const needed = name === "string_agg" ? 2 : 1;
  if (call.operands.length !== (call.star ? 0 : needed) || (call.star && name !== "count"))
    throw senseless(text, span, `${name}() takes ${needed === 1 ? "one operand" : `${needed} operands`}.`);
  const operands = call.operands.map(resolve);
  const filter = call.filter === null ? null : typing.truth(resolve(call.filter), "FILTER");
  checkOwn(context, call, filter === null ? operands : [...operands, filter]);
  const order = call.order.map(
    (item): SortExpression => ({ ...item, expression: typing.settled(resolve(item.expression)) }),
  );
  const listing = name === "string_agg" || name === "array_agg";
  if (listing && order.length === 0)
    throw refusal(
      text,
      span,
      `${name}() needs an ORDER BY inside its parentheses: without one, chance decides in which order the values stand.`,
    );
  if (!listing && order.length > 0)
    throw refusal(text, span, `${name}() gives the same in every order; leave ORDER BY out.`);
  if (distinct && order.some(({ expression }) => !operands.some((each) => sameExpression(each, expression))))
    throw senseless(text, span, "With DISTINCT, an aggregate is ordered by its own operands only.");
  const typed = signed(context, name, operands, call);
  return { name, distinct, filter, order, span, ...typed };
}

/** An aggregate of a program. Rows with a NULL among the operands do not count. */
function userCall(
  context: ResolveContext,
  call: FunctionCall,
  { signature }: UserAggregate,
  resolve: (expression: SqlExpression) => PlanExpression,
): AggregateCall {
  const { text, typing } = context;
  const { name, span, star } = call;
  if (call.distinct || call.order.length > 0 || star)
    throw refusal(
      text,
      span,
      `${name}() is an aggregate of the program: it takes no DISTINCT, ORDER BY or *.`,
    );
  const count = signature.operands.length;
  if (call.operands.length !== count)
    throw senseless(text, span, `${name}() takes ${count} operand${count === 1 ? "" : "s"}.`);
  const given = call.operands.map(resolve);
  const filter = call.filter === null ? null : typing.truth(resolve(call.filter), "FILTER");
  checkOwn(context, call, filter === null ? given : [...given, filter]);
  const { operands, result } = applied(typing, text, name, given, span, [signature]);
  const { nullable } = signature;
  return {
    name: "user",
    user: name,
    distinct: false,
    filter,
    order: [],
    span,
    operands,
    type: result,
    nullable,
  };
}

function signed(
  { text, typing }: ResolveContext,
  name: AggregateName,
  operands: readonly PlanExpression[],
  { span }: FunctionCall,
): Pick<AggregateCall, "operands" | "type" | "nullable"> {
  const settled = operands.map((each) => typing.settled(each));
  const [first] = settled;
  if (name === "count") return { operands: settled, type: "int8", nullable: false };
  if (name === "array_agg") {
    const type: SqlType =
      first === undefined || first.type === "untyped" ? "untyped" : arrayOf(first.type as ScalarType);
    return { operands: settled, type, nullable: true };
  }
  const { operands: converted, result } = applied(
    typing,
    text,
    name,
    operands,
    span,
    aggregateSignatures(name),
  );
  return { operands: converted, type: result, nullable: true };
}
