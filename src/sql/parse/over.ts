import type { Node, WindowDef } from "libpg-query";
import type { OverClause } from "../ast.js";
import type { FrameClause } from "../plan.js";
import type { StatementReader } from "./reader.js";
import type { Reading } from "./reading.js";

/** `OVER (…)`, `OVER name` and `OVER (name …)`: a window of the clause WINDOW is copied into each call that names it. */
export function readOver(reading: Reading, node: WindowDef): OverClause {
  const { reader, expression, sort } = reading;
  if (node.name !== undefined) return readOver(reading, namedWindow(reading, node.name, node));
  const base = node.refname === undefined ? null : namedWindow(reading, node.refname, node);
  if (base !== null) checkExtension(reader, node, base);
  const inherited = base === null ? null : readOver(reading, base);
  const order = (node.orderClause ?? []).map(sort);
  return {
    partition: inherited?.partition ?? (node.partitionClause ?? []).map(expression),
    order: order.length > 0 ? order : (inherited?.order ?? []),
    frame: readFrame(reader, node),
  };
}

/** The windows that the clause WINDOW of a SELECT defines, by name. One may extend those before it. */
export function windowsOf(
  reader: StatementReader,
  clause: readonly Node[] | undefined,
): ReadonlyMap<string, WindowDef> {
  const windows = new Map<string, WindowDef>();
  for (const node of clause ?? []) {
    if (!("WindowDef" in node)) return reader.unsupported("This in WINDOW", node);
    const { name = "", refname } = node.WindowDef;
    const span = reader.span(node.WindowDef.location);
    if (windows.has(name)) reader.refuse(span, `There are two windows ${name}.`);
    if (refname !== undefined && !windows.has(refname)) reader.refuse(span, noWindow(refname, windows));
    const { name: _, ...definition } = node.WindowDef;
    windows.set(name, definition);
  }
  return windows;
}

function namedWindow({ reader, windows }: Reading, name: string, { location }: WindowDef): WindowDef {
  return windows.get(name) ?? reader.refuse(reader.span(location), noWindow(name, windows));
}

function noWindow(name: string, windows: ReadonlyMap<string, WindowDef>): string {
  const others =
    windows.size === 0 ? "The query has no clause WINDOW." : `There is ${[...windows.keys()].join(" and ")}.`;
  return `There is no window ${name}. ${others}`;
}

/** PostgreSQL's rules: what the window says already is not said again, and its frame belongs to it alone. */
function checkExtension(reader: StatementReader, node: WindowDef, base: WindowDef): void {
  const span = reader.span(node.location);
  if (node.partitionClause !== undefined)
    reader.refuse(span, `PARTITION BY cannot be given again: the window ${node.refname} decides it.`);
  if (node.orderClause !== undefined && base.orderClause !== undefined)
    reader.refuse(span, `ORDER BY cannot be given again: the window ${node.refname} has one.`);
  if (((base.frameOptions ?? 0) & FRAME.isGiven) !== 0)
    reader.refuse(
      span,
      `The window ${node.refname} has a frame, so it cannot be extended. Write OVER ${node.refname}.`,
    );
}

/** PostgreSQL's parser gives the frame as bits (`FRAMEOPTION_…`). */
const FRAME = {
  isGiven: 0x1,
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
