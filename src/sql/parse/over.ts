import type { Node, WindowDef } from "libpg-query";
import type { OverClause } from "../ast.js";
import type { OpenType } from "../types.js";
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
    frame: readFrame(reading, node),
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

function readFrame(reading: Reading, node: WindowDef): OverClause["frame"] {
  const { reader } = reading;
  const bits = node.frameOptions ?? 0;
  const has = (bit: number) => (bits & bit) !== 0;
  const span = reader.span(node.location);
  if (has(FRAME.exclusion))
    return reader.refuse(
      span,
      "EXCLUDE is not supported: take a frame that ends before the row, or subtract.",
    );
  const unit = has(FRAME.rows) ? "rows" : has(FRAME.groups) ? "groups" : "range";
  const distances: OpenType[] = [];
  const distance = (bound: Node | undefined): number => {
    const given = bound === undefined ? null : reading.expression(bound);
    const isNumber = given?.kind === "constant" && given.type !== "unknown" && Number(given.value) >= 0;
    if (given?.kind !== "constant" || !isNumber)
      return reader.refuse(
        given?.span ?? span,
        "The distance of a frame is a constant that is not negative: a number, or an INTERVAL with RANGE.",
      );
    if (unit !== "range" && !/^int/.test(given.type))
      return reader.refuse(given.span, `The distance of a frame of ${unit.toUpperCase()} is a whole number.`);
    if (unit === "range") distances.push(given.type);
    return Number(given.value);
  };
  const start = has(FRAME.startUnbounded)
    ? null
    : has(FRAME.startOffsetBefore)
      ? -distance(node.startOffset)
      : has(FRAME.startOffsetAfter)
        ? distance(node.startOffset)
        : 0;
  const end = has(FRAME.endUnbounded)
    ? null
    : has(FRAME.endOffsetBefore)
      ? -distance(node.endOffset)
      : has(FRAME.endOffsetAfter)
        ? distance(node.endOffset)
        : 0;
  const [first = null, second = first] = distances;
  if ((first === "interval") !== (second === "interval"))
    reader.refuse(span, "The distances of a frame are of one type: both numbers, or both intervals.");
  return { unit, start, end, distance: first === "int4" || first === "int8" ? second : first };
}
