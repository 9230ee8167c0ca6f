import type { FuncCall, Node } from "libpg-query";
import type { ColumnName, FromItem, GroupWindow, SqlExpression, WindowClause, WindowKind } from "../ast.js";
import { GROUP_WINDOW } from "../ast.js";
import type { Span } from "../source.js";
import { type StatementReader, words } from "./reader.js";
import { operation, type Reading } from "./reading.js";

/** Each row of HOP comes once for each of its windows. */
const WINDOWS_MAX = 1000;
const WINDOWS = new Set(["tumble", "hop", "cumulate", "session"]);

/**
 * `TUMBLE(clicks, ts, INTERVAL '1 hour')`, in RisingWave's or in Flink's spelling (`TABLE`, `DESCRIPTOR`, names of arguments), with
 * an offset as the last interval.
 */
export function readWindow(reading: Reading, node: FuncCall, alias: string | null): FromItem {
  const { reader } = reading;
  const name = words(node.funcname)?.at(-1) ?? "";
  const span = reader.span(node.location, true);
  if (!WINDOWS.has(name))
    reader.refuse(span, `${name}() is not a function for FROM; there are TUMBLE, HOP, CUMULATE and SESSION.`);
  const window = name as WindowKind;
  const [table, ...rest] = placed(reader, window, node).map(reading.expression);
  if (table?.kind !== "column")
    return reader.refuse(span, `The first argument of ${name.toUpperCase()} is the name of a table.`);
  const { time, keys } = columnsOf(reader, window, rest, span);
  const clause = clauseOf(reader, window, time, rest, span, usage(window));
  return {
    ...{ kind: "window", clause, keys, alias, span },
    table: table.table === null ? table.name : `${table.table}.${table.name}`,
    tableSpan: table.span,
  };
}

/** Whether a node of GROUP BY is a window of a time. */
export function isGroupWindow(node: Node): node is { FuncCall: FuncCall } {
  return "FuncCall" in node && WINDOWS.has(words(node.FuncCall.funcname)?.at(-1) ?? "");
}

/** `GROUP BY TUMBLE(ts, INTERVAL '1 hour')`, as Flink's group windows are written. */
export function readGroupWindow(reading: Reading, node: FuncCall): GroupWindow {
  const window = (words(node.funcname)?.at(-1) ?? "").replace(/_.*$/, "") as WindowKind;
  const span = reading.reader.span(node.location, true);
  const [time, ...rest] = (node.args ?? []).map(reading.expression);
  const how = `In GROUP BY, ${usage(window, true)}`;
  if (time?.kind !== "column") return reading.reader.refuse(span, how);
  return { ...clauseOf(reading.reader, window, time, rest, span, how), span };
}

const BOUND = /^(tumble|hop|cumulate|session)_(start|end|rowtime|proctime)$/;

/** `TUMBLE_START(ts, INTERVAL '1 hour')` and its like: a bound of the window in GROUP BY. `null` for other calls. */
export function readWindowBound(reading: Reading, node: FuncCall): SqlExpression | null {
  const { reader, groupWindow } = reading;
  const name = words(node.funcname)?.at(-1) ?? "";
  const span = reader.span(node.location, true);
  const [, window = "", bound = ""] = BOUND.exec(name) ?? [];
  if (WINDOWS.has(name))
    return reader.refuse(
      span,
      `${name.toUpperCase()} stands in FROM or in GROUP BY. The bounds of a window in GROUP BY are ${name.toUpperCase()}_START(…) and ${name.toUpperCase()}_END(…).`,
    );
  if (window === "") return null;
  const written = `${window.toUpperCase()}(…)`;
  if (groupWindow === null || groupWindow.window !== window)
    return reader.refuse(span, `${name.toUpperCase()} is about ${written} in GROUP BY, which is not there.`);
  if (shapeOf(readGroupWindow(reading, node)) !== shapeOf(groupWindow))
    return reader.refuse(span, `${name.toUpperCase()} takes the same arguments as ${written} in GROUP BY.`);
  if (bound === "proctime")
    return reader.refuse(span, `There is no time of processing here; take ${window.toUpperCase()}_END(…).`);
  const column = (name: string): SqlExpression => ({ kind: "column", table: GROUP_WINDOW, name, span });
  if (bound !== "rowtime") return column(`window_${bound}`);
  // The last moment of the window, as Flink counts in milliseconds.
  const moment: SqlExpression = { kind: "constant", value: 1, type: "interval", span };
  return operation("-", [column("window_end"), moment], [span]);
}

function shapeOf(window: GroupWindow): string {
  return JSON.stringify(window, (key, value: unknown) => (key === "span" ? undefined : value));
}

/** In which order the arguments of a window stand, where they are given by Flink's names. */
const NAMES: Readonly<Record<WindowKind, readonly string[]>> = {
  tumble: ["data", "timecol", "size", "offset"],
  hop: ["data", "timecol", "slide", "size", "offset"],
  cumulate: ["data", "timecol", "step", "size", "offset"],
  session: ["data", "timecol", "gap"],
};

function placed(reader: StatementReader, window: WindowKind, { args = [], location }: FuncCall): Node[] {
  const named = args.flatMap((node) => ("NamedArgExpr" in node ? [node.NamedArgExpr] : []));
  if (named.length === 0) return args;
  const span = reader.span(location, true);
  const order = NAMES[window];
  const odd = named.find(({ name }) => !order.includes(name ?? ""));
  if (named.length < args.length || odd !== undefined)
    return reader.refuse(
      span,
      `The arguments of ${window.toUpperCase()} are ${order.map((each) => each.toUpperCase()).join(", ")}; give names to all of them, or to none.`,
    );
  return order.flatMap((name) => named.find((each) => each.name === name)?.arg ?? []);
}

/** The time is what DESCRIPTOR names, or the first column; the others keep sessions apart. */
function columnsOf(
  reader: StatementReader,
  window: WindowKind,
  operands: readonly SqlExpression[],
  span: Span,
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

/** Windows by the lengths among the operands: the gap, the size, or the step and the size, and perhaps an offset. */
function clauseOf(
  reader: StatementReader,
  window: WindowKind,
  time: ColumnName,
  operands: readonly SqlExpression[],
  span: Span,
  how: string,
): WindowClause {
  const lengths = operands.flatMap((each) => (each.kind === "constant" ? [lengthOf(reader, each)] : []));
  const needed = window === "hop" || window === "cumulate" ? 2 : 1;
  if (lengths.length < needed || lengths.length > needed + (window === "session" ? 0 : 1))
    return reader.refuse(span, how);
  const [first = 0, second = first] = lengths;
  // As in Flink, HOP and CUMULATE are given the step first and the size second.
  const [slideMs, sizeMs] = needed === 2 ? [first, second] : [first, first];
  if (slideMs <= 0 || sizeMs <= 0)
    reader.refuse(span, "The length of a window is an interval that is longer than nothing.");
  if (sizeMs / slideMs > WINDOWS_MAX)
    reader.refuse(
      span,
      `A row would be in ${sizeMs / slideMs} windows, and may be in ${WINDOWS_MAX}. Take a longer step.`,
    );
  if (sizeMs % slideMs !== 0)
    reader.refuse(span, `The size of a ${window.toUpperCase()} window is a multiple of its step.`);
  return { window, time, sizeMs, slideMs, offsetMs: lengths[needed] ?? 0 };
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

function usage(window: WindowKind, isGroup = false): string {
  const [table, more] = isGroup ? ["", ""] : ["t, ", "a table, "];
  switch (window) {
    case "tumble":
      return `TUMBLE takes ${more}its time column and the size: TUMBLE(${table}ts, INTERVAL '1 hour').`;
    case "hop":
      return `HOP takes ${more}its time column, the step and the size: HOP(${table}ts, INTERVAL '5 minutes', INTERVAL '1 hour').`;
    case "cumulate":
      return `CUMULATE takes ${more}its time column, the step and the size: CUMULATE(${table}ts, INTERVAL '1 hour', INTERVAL '1 day').`;
    case "session":
      return isGroup
        ? "SESSION takes its time column and the gap: SESSION(ts, INTERVAL '30 minutes')."
        : "SESSION takes a table, its time column, columns to keep sessions apart by, and the gap: SESSION(t, ts, visitor, INTERVAL '30 minutes').";
  }
}
