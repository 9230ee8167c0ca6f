import type { FuncCall, Node, WindowDef } from "libpg-query";
import type { OverClause, SqlExpression } from "../ast.js";
import type { FrameClause } from "../plan.js";
import { type StatementReader, words } from "./reader.js";
import { type Reading, refusalOfChance } from "./reading.js";

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

function readOver(reading: Reading, node: WindowDef): OverClause {
  const { reader, expression, sort } = reading;
  if (node.name !== undefined || node.refname !== undefined)
    return reader.unsupported("OVER with the name of a window", { location: node.location ?? -1 });
  return {
    partition: (node.partitionClause ?? []).map(expression),
    order: (node.orderClause ?? []).map(sort),
    frame: readFrame(reader, node),
  };
}

/** PostgreSQL's parser gives the frame as bits (`FRAMEOPTION_…`). */
const FRAME = {
  groups: 0x8,
  rows: 0x4,
  startUnbounded: 0x20,
  endUnbounded: 0x100,
  startOffsetBefore: 0x800,
  endOffsetBefore: 0x1000,
  startOffsetAfter: 0x2000,
  endOffsetAfter: 0x4000,
  exclusion: 0x8000 | 0x10000 | 0x20000,
} as const;

function readFrame(reader: StatementReader, node: WindowDef): FrameClause {
  const bits = node.frameOptions ?? 0;
  const has = (bit: number) => (bits & bit) !== 0;
  const place = { location: node.location ?? -1 };
  if (has(FRAME.groups) || has(FRAME.exclusion))
    return reader.unsupported("A frame of GROUPS or with EXCLUDE", place);
  const unit = has(FRAME.rows) ? "rows" : "range";
  const offset = (bound: Node | undefined): number => {
    const value = bound !== undefined && "A_Const" in bound ? bound.A_Const.ival?.ival : undefined;
    if (unit === "range" || bound === undefined)
      return reader.refuse(reader.span(node.location), "RANGE with an offset is not supported; use ROWS.");
    // PostgreSQL's tree leaves out a zero.
    return "A_Const" in bound && bound.A_Const.ival !== undefined
      ? (value ?? 0)
      : reader.refuse(reader.span(node.location), "The offset of a frame is a whole number.");
  };
  const start = has(FRAME.startUnbounded)
    ? null
    : has(FRAME.startOffsetBefore)
      ? -offset(node.startOffset)
      : has(FRAME.startOffsetAfter)
        ? offset(node.startOffset)
        : 0;
  const end = has(FRAME.endUnbounded)
    ? null
    : has(FRAME.endOffsetBefore)
      ? -offset(node.endOffset)
      : has(FRAME.endOffsetAfter)
        ? offset(node.endOffset)
        : 0;
  return { unit, start, end };
}
