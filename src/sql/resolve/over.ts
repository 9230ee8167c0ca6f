import type { FunctionCall, SqlExpression } from "../ast.js";
import type {
  FrameClause,
  OverCall,
  PlanExpression,
  RankFunction,
  ShareFunction,
  SortExpression,
} from "../plan.js";
import { type SqlType, showType } from "../types.js";
import { aggregateOf, isAggregate } from "./aggregate.js";
import type { ExpressionPlace, ResolveContext } from "./context.js";
import { refusal, senseless } from "./refusals.js";
import { sameExpression } from "./same.js";

const RANKS: readonly string[] = ["row_number", "rank", "dense_rank"] satisfies readonly RankFunction[];
const SHARES: readonly string[] = ["ntile", "percent_rank", "cume_dist"] satisfies readonly ShareFunction[];
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
  const frame = frameOf(context, call, order);
  const shared = { partition, order, frame, span };
  const made = (type: SqlType, nullable: boolean, of: OverCall["function"]): OverCall => {
    return { ...shared, function: of, type, nullable };
  };
  const operands = call.operands.map(settled);
  const [operand] = operands;
  const isOrdered = [...RANKS, ...SHARES, ...NEIGHBOURS, ...EDGES, "nth_value"].includes(name);
  const byRows = frame.unit === "rows" || isOrdered;
  if (order.length === 0 && byRows)
    throw refusal(
      text,
      span,
      `${name}() needs an ORDER BY in OVER: without one, chance decides which row comes before which.`,
    );
  if (RANKS.includes(name)) return made("int8", false, { kind: "rank", name: name as RankFunction });
  if (SHARES.includes(name)) return share(context, call, operands, made);
  if (NEIGHBOURS.includes(name) && operand !== undefined) return neighbour(context, call, operands, made);
  if (EDGES.includes(name) && operand !== undefined)
    return made(operand.type, true, { kind: "edge", name: name as "first_value", operand });
  if (name === "nth_value" && operand !== undefined) {
    const nth = countOf(context, call, operands[1], 2);
    return made(operand.type, true, { kind: "nth", nth, operand });
  }
  if (!isAggregate(name))
    throw refusal(
      text,
      span,
      `${name}() OVER is not supported; there are ${[...RANKS, ...SHARES, ...NEIGHBOURS, ...EDGES].join(", ")}, nth_value and the aggregates.`,
    );
  const aggregate = aggregateOf(context, call, again);
  if (aggregate.distinct)
    throw refusal(
      text,
      span,
      "DISTINCT with OVER is not supported; join with a subquery that has the aggregate with GROUP BY.",
    );
  return made(aggregate.type, aggregate.nullable, { kind: "aggregate", aggregate });
}

/** The frame, with its distances checked against the order, as PostgreSQL does. */
function frameOf(
  { text }: ResolveContext,
  { over, span }: FunctionCall,
  order: readonly SortExpression[],
): FrameClause {
  if (over === null) return { unit: "range", start: null, end: 0 };
  const { unit, start, end, distance } = over.frame;
  if (unit === "groups" && order.length === 0)
    throw senseless(text, span, "A frame of GROUPS needs an ORDER BY in OVER.");
  if (distance === null) return { unit, start, end };
  const [key, ...more] = order;
  if (key === undefined || more.length > 0)
    throw senseless(text, span, "RANGE with a distance needs an ORDER BY of one expression in OVER.");
  const { type } = key.expression;
  const fits =
    distance === "interval"
      ? ["date", "timestamp", "timestamptz"]
      : distance === "numeric"
        ? ["numeric", "float4", "float8"]
        : ["int2", "int4", "int8", "numeric", "float4", "float8"];
  if (!fits.includes(type))
    throw senseless(
      text,
      span,
      `RANGE with ${distance === "interval" ? "an INTERVAL" : "a number"} does not fit to ORDER BY a value of type ${showType(type)}.`,
    );
  return { unit, start, end };
}

function share(
  context: ResolveContext,
  call: FunctionCall,
  operands: readonly PlanExpression[],
  made: (type: SqlType, nullable: boolean, of: OverCall["function"]) => OverCall,
): OverCall {
  const name = call.name as ShareFunction;
  if (name === "ntile")
    return made("int4", false, { kind: "share", name, buckets: countOf(context, call, operands[0], 1) });
  if (operands.length > 0) throw senseless(context.text, call.span, `${name}() takes no operands.`);
  return made("float8", false, { kind: "share", name, buckets: 0 });
}

/** A number that a function takes as a constant, such as the parts of ntile. */
function countOf(
  { text }: ResolveContext,
  { name, operands, span }: FunctionCall,
  operand: PlanExpression | undefined,
  needed: number,
): number {
  const count = operand?.kind === "constant" ? operand.value : null;
  if (operands.length !== needed || typeof count !== "number" || !Number.isInteger(count) || count < 1)
    throw refusal(text, span, `The number that ${name}() takes is a constant: a whole number from 1 on.`);
  return count;
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
