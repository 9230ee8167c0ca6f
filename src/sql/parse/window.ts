import type { FuncCall } from "libpg-query";
import type { ColumnName, FromItem, SqlExpression, WindowKind } from "../ast.js";
import { type StatementReader, words } from "./reader.js";
import type { Reading } from "./reading.js";

/** Each row of HOP comes once for each of its windows. */
const WINDOWS_MAX = 1000;
const WINDOWS = new Set(["tumble", "hop", "session"]);

/**
 * `TUMBLE(clicks, ts, INTERVAL '1 hour')`, in RisingWave's or in Flink's spelling (`TABLE`, `DESCRIPTOR`), with an offset as
 * the last interval.
 */
export function readWindow(reading: Reading, node: FuncCall, alias: string | null): FromItem {
  const { reader } = reading;
  const name = words(node.funcname)?.at(-1) ?? "";
  const span = reader.span(node.location, true);
  if (!WINDOWS.has(name))
    reader.refuse(span, `${name}() is not a function for FROM; there are TUMBLE, HOP and SESSION.`);
  const window = name as WindowKind;
  const [table, ...rest] = (node.args ?? []).map(reading.expression);
  if (table?.kind !== "column")
    return reader.refuse(span, `The first argument of ${name.toUpperCase()} is the name of a table.`);
  const { time, keys } = columnsOf(reader, window, rest, span);
  const lengths = rest.flatMap((each) => (each.kind === "constant" ? [lengthOf(reader, each)] : []));
  const needed = window === "hop" ? 2 : 1;
  if (lengths.length < needed || lengths.length > needed + (window === "session" ? 0 : 1))
    return reader.refuse(span, usage(window));
  const [first = 0, second = first] = lengths;
  // As in Flink, HOP is given the slide first and the size second.
  const [slideMs, sizeMs] = window === "hop" ? [first, second] : [first, first];
  if (slideMs <= 0 || sizeMs <= 0)
    reader.refuse(span, "The length of a window is an interval that is longer than nothing.");
  if (sizeMs / slideMs > WINDOWS_MAX)
    reader.refuse(
      span,
      `A row would be in ${sizeMs / slideMs} windows, and may be in ${WINDOWS_MAX}. Take a longer slide.`,
    );
  if (sizeMs % slideMs !== 0) reader.refuse(span, "The size of a HOP window is a multiple of its slide.");
  const offsetMs = lengths[needed] ?? 0;
  return {
    kind: "window",
    window,
    table: table.table === null ? table.name : `${table.table}.${table.name}`,
    tableSpan: table.span,
    time,
    sizeMs,
    slideMs,
    offsetMs,
    keys,
    alias,
    span,
  };
}

/** The time is what DESCRIPTOR names, or the first column; the others keep sessions apart. */
function columnsOf(
  reader: StatementReader,
  window: WindowKind,
  operands: readonly SqlExpression[],
  span: SqlExpression["span"],
): { time: ColumnName; keys: ColumnName[] } {
  const columns = operands.filter(({ kind }) => kind !== "constant");
  const described = columns.find(isDescriptor);
  const time = described === undefined ? columns[0] : described.operands[0];
  const keys = columns.filter((each) => each !== described && each !== time);
  if (time?.kind !== "column" || (window !== "session" && keys.length > 0))
    return reader.refuse(span, usage(window));
  return {
    time,
    keys: keys.map((key) => (key.kind === "column" ? key : reader.refuse(key.span, usage(window)))),
  };
}

type Descriptor = Extract<SqlExpression, { kind: "call" }>;

function isDescriptor(expression: SqlExpression): expression is Descriptor {
  return expression.kind === "call" && expression.name === "descriptor" && expression.operands.length === 1;
}

function lengthOf(
  reader: StatementReader,
  { value, type, span }: Extract<SqlExpression, { kind: "constant" }>,
): number {
  if (typeof value === "number" && value >= 0 && type === "interval") return value;
  return reader.refuse(span, "The length of a window is an interval that is longer than nothing.");
}

function usage(window: WindowKind): string {
  if (window === "tumble")
    return "TUMBLE takes a table, its time column and the size: TUMBLE(t, ts, INTERVAL '1 hour').";
  if (window === "hop")
    return "HOP takes a table, its time column, the slide and the size: HOP(t, ts, INTERVAL '5 minutes', INTERVAL '1 hour').";
  return "SESSION takes a table, its time column, columns to keep sessions apart by, and the gap: SESSION(t, ts, visitor, INTERVAL '30 minutes').";
}
