import type { FuncCall, Node } from "libpg-query";
import type { SqlExpression } from "../ast.js";
import { readOver } from "./over.js";
import { words } from "./reader.js";
import { type Reading, refusalOfChance } from "./reading.js";
import { readWindowBound } from "./window.js";

/** They answer differently when asked again, so no order of delivery gives one answer. */
const CHANCY = new Set([
  "random",
  "now",
  "clock_timestamp",
  "statement_timestamp",
  "transaction_timestamp",
  "nextval",
  "gen_random_uuid",
]);

/** How PostgreSQL's grammar calls what is written with words, such as `position(a IN b)`. */
const SPELLINGS: Readonly<Record<string, string>> = {
  btrim: "trim",
  char_length: "length",
  character_length: "length",
  ceiling: "ceil",
  every: "bool_and",
  substr: "substring",
};

export function readCall(reading: Reading, node: FuncCall): SqlExpression {
  const { reader, expression } = reading;
  const written = words(node.funcname)?.at(-1) ?? "";
  const span = reader.span(node.location, true);
  const [schema] = words(node.funcname) ?? [];
  if (schema !== written && schema !== "pg_catalog")
    return reader.refuse(span, "A function name with a schema is not supported.");
  const bound = readWindowBound(reading, node);
  if (bound !== null) return bound;
  if (CHANCY.has(written)) reader.refuse(span, refusalOfChance(`${written}()`));
  if (node.agg_within_group === true)
    return reader.refuse(span, "WITHIN GROUP is not supported; take min, max or avg instead.");
  if (node.func_variadic === true) return reader.refuse(span, "VARIADIC is not supported; list the values.");
  return {
    kind: "call",
    name: SPELLINGS[written] ?? written,
    operands: (node.args ?? []).map(expression),
    distinct: node.agg_distinct === true,
    star: node.agg_star === true,
    filter: node.agg_filter === undefined ? null : expression(node.agg_filter),
    order: (node.agg_order ?? []).map(reading.sort),
    over: node.over === undefined ? null : readOver(reading, node.over),
    span,
  };
}

export function readPlainCall(
  { reader, expression }: Reading,
  name: string,
  operands: readonly Node[],
  location: number | undefined,
): SqlExpression {
  return {
    kind: "call",
    name,
    operands: operands.map(expression),
    distinct: false,
    star: false,
    filter: null,
    order: [],
    over: null,
    span: reader.span(location, true),
  };
}
