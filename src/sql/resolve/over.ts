import type { FunctionCall, SqlExpression } from "../ast.js";
import type { OverCall, PlanExpression, RankFunction, SortExpression } from "../plan.js";
import type { SqlType } from "../types.js";
import { aggregateOf, isAggregate } from "./aggregate.js";
import type { ExpressionPlace, ResolveContext } from "./context.js";
import { refusal, senseless } from "./refusals.js";
import { sameExpression } from "./same.js";

const RANKS: readonly string[] = ["row_number", "rank", "dense_rank"] satisfies readonly RankFunction[];
const NEIGHBOURS: readonly string[] = ["lag", "lead"];
const EDGES: readonly string[] = ["first_value", "last_value"];

/** A function with OVER becomes a column of its own behind those of the rows; equal ones are computed once. */
export function typedOver(
  context: ResolveContext,
  call: FunctionCall,
  { overs }: ExpressionPlace,
  again: (each: SqlExpression) => PlanExpression,
): PlanExpression {
  const { text } = context;
  const { span, over } = call;
  if (overs === null || over === null)
    throw senseless(
      text,
      span,
      `${call.name}() OVER looks at other rows of the result: it can stand in SELECT and ORDER BY. To filter by it, select from a subquery.`,
    );
  const found = overOf(context, call, again);
  let index = overs.functions.findIndex((each) => sameExpression(each, found));
  if (index < 0) index = overs.functions.push(found) - 1;
  const { type, nullable } = found;
  return { kind: "column", index: overs.width + index, depth: 0, type, nullable, span };
}

function overOf(
  context: ResolveContext,
  call: FunctionCall,
  again: (each: SqlExpression) => PlanExpression,
): OverCall {
  const { text, typing } = context;
  const { name, span, over } = call;
  const settled = (each: SqlExpression) => typing.settled(again(each));
  const partition = (over?.partition ?? []).map(settled);
  const order = (over?.order ?? []).map(
    (item): SortExpression => ({ ...item, expression: settled(item.expression) }),
  );
  const frame = over?.frame ?? { unit: "range", start: null, end: 0 };
  const shared = { partition, order, frame, span };
  const made = (type: SqlType, nullable: boolean, of: OverCall["function"]): OverCall => {
    return { ...shared, function: of, type, nullable };
  };
  const operands = call.operands.map(settled);
  const [operand] = operands;
  const byRows =
    frame.unit === "rows" || RANKS.includes(name) || NEIGHBOURS.includes(name) || EDGES.includes(name);
  if (order.length === 0 && byRows)
    throw refusal(
      text,
      span,
      `${name}() needs an ORDER BY in OVER: without one, chance decides which row comes before which.`,
    );
  if (RANKS.includes(name)) return made("int8", false, { kind: "rank", name: name as RankFunction });
  if (NEIGHBOURS.includes(name) && operand !== undefined) return neighbour(context, call, operands, made);
  if (EDGES.includes(name) && operand !== undefined)
    return made(operand.type, true, { kind: "edge", name: name as "first_value", operand });
  if (!isAggregate(name))
    throw refusal(
      text,
      span,
      `${name}() OVER is not supported; there are ${[...RANKS, ...NEIGHBOURS, ...EDGES].join(", ")} and the aggregates.`,
    );
  const aggregate = aggregateOf(context, call, again);
  if (aggregate.distinct) throw refusal(text, span, "DISTINCT with OVER is not supported.");
  return made(aggregate.type, aggregate.nullable, { kind: "aggregate", aggregate });
}

function neighbour(
  { text, typing }: ResolveContext,
  { name, span }: FunctionCall,
  [operand, distance, otherwise]: readonly PlanExpression[],
  made: (type: SqlType, nullable: boolean, of: OverCall["function"]) => OverCall,
): OverCall {
  const offset = distance === undefined ? 1 : distance.kind === "constant" ? distance.value : null;
  if (operand === undefined || typeof offset !== "number" || !Number.isInteger(offset) || offset < 0)
    throw refusal(text, span, `The distance of ${name}() is a whole number that is not negative.`);
  const default_ = otherwise === undefined ? null : typing.converted(otherwise, operand.type);
  const nullable = default_ === null || default_.nullable || operand.nullable;
  const function_ = { kind: "neighbour", name: name as "lag", operand, offset, otherwise: default_ } as const;
  return made(operand.type, nullable, function_);
}
