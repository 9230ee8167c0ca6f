/**
 * A layered drawing: every box in a column after the boxes that lead to it, captions in columns of their own between, edges
 * over several columns through places of their own, and each column sorted by where its neighbours stand. Edges go straight
 * through columns and bend only in the gaps between them, so no edge runs through a box or a caption.
 */

import { grouped } from "../grouped.js";

export interface Box {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

export interface LayoutEdge {
  readonly from: string;
  readonly to: string;
  /** The room that its caption needs. */
  readonly captionWidth: number;
}

export interface PlacedBox extends Box {
  readonly x: number;
  readonly y: number;
  /** Where its column begins and ends. */
  readonly left: number;
  readonly right: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, PlacedBox>;
  /** For each edge, in order: the points that it passes between its boxes; two for each column, where it is level. */
  readonly ways: readonly (readonly Point[])[];
  /** For each edge, the middle of the line that its caption stands on; `null` for a loop, whose caption stands below it. */
  readonly captions: readonly (Point | null)[];
}

const GAP_X = 44;
const GAP_Y = 40;
const MARGIN = 36;
const SWEEPS = 4;
const BEND_HEIGHT = 4;
const BEND_GAP = 16;
const CAPTION_HEIGHT = 20;
/** How far the line lies above the bottom of its caption's place. */
const LINE_ABOVE = 3;
/** How far the first edge that leads back to its own box hangs below it, and how much further each next one does. */
const LOOP_REACH = 26;
const LOOP_STEP = 14;
const LOOP_CAPTION = 16;
/** Beyond this a picture is a tangle anyway; its edges go straight. */
const BENDS_MAX = 50_000;

interface Cell {
  readonly width: number;
  readonly height: number;
  readonly column: number;
  /** The room below it. */
  readonly gap: number;
  x: number;
  y: number;
  rank: number;
  readonly neighbours: Cell[];
}

export function layOut(boxes: readonly Box[], edges: readonly LayoutEdge[]): Layout {
  const columns = columnsOf(boxes, edges);
  const all: Cell[] = [];
  const add = (width: number, height: number, column: number, gap: number): Cell => {
    const cell: Cell = { width, height, column, gap, x: 0, y: 0, rank: all.length, neighbours: [] };
    all.push(cell);
    return cell;
  };
  const room = roomForLoops(edges);
  const cells = new Map(
    boxes.map(({ name, width, height }) => {
      const { below, wide } = room.get(name) ?? { below: 0, wide: 0 };
      const column = 2 * (columns.get(name) ?? 0);
      return [name, add(Math.max(width, wide), height + below, column, GAP_Y)];
    }),
  );
  const bends = edges.reduce((sum, { from, to }) => sum + 2 * span(columns, from, to), 0);
  const ways = edges.map((edge) =>
    wayOf(edge, cells.get(edge.from), cells.get(edge.to), bends > BENDS_MAX ? null : add),
  );
  const byColumn: Cell[][] = [];
  for (const cell of all) (byColumn[cell.column] ??= []).push(cell);
  const filled = byColumn.filter((column) => column !== undefined);
  arrange(filled);

  const extents = new Map<number, { left: number; right: number }>();
  let x = MARGIN;
  for (const column of filled) {
    const width = largest(column, (cell) => cell.width);
    for (const cell of column) cell.x = x + (width - cell.width) / 2;
    extents.set(column[0]?.column ?? 0, { left: x, right: x + width });
    x += width + GAP_X;
  }
  const extentOf = ({ column }: Cell) => extents.get(column) ?? { left: 0, right: 0 };
  const placed = boxes.flatMap((box): [string, PlacedBox][] => {
    const cell = cells.get(box.name);
    if (cell === undefined) return [];
    const at = { x: cell.x + (cell.width - box.width) / 2, y: cell.y };
    return [[box.name, { ...box, ...at, ...extentOf(cell) }]];
  });
  const height = largest(all, (cell) => cell.y + cell.height) + MARGIN;
  return {
    width: x - GAP_X + MARGIN,
    height,
    boxes: new Map(placed),
    ways: ways.map((way) => way.cells.flatMap((cell) => levelIn(cell, extentOf(cell), way.back))),
    captions: ways.map(({ caption }) =>
      caption === null ? null : { x: caption.x + caption.width / 2, y: lineIn(caption) },
    ),
  };
}

function lineIn({ y, height }: Cell): number {
  return y + height - LINE_ABOVE;
}

/** An edge crosses a column level, from one side to the other. */
function levelIn(cell: Cell, { left, right }: { left: number; right: number }, back: boolean): Point[] {
  const y = lineIn(cell);
  const points = [
    { x: left, y },
    { x: right, y },
  ];
  return back ? points.reverse() : points;
}

/**
 * The nth of the edges that lead back to their own box: where its curve bends to, and where its caption stands, both below the
 * box. All captions stand below all curves, in the same order.
 */
export function loopBelow(nth: number, of: number): { readonly bend: number; readonly caption: number } {
  const lowest = 0.75 * (LOOP_REACH + LOOP_STEP * (of - 1)); // a curve comes three quarters of the way to where it bends
  return { bend: LOOP_REACH + LOOP_STEP * nth, caption: lowest + LOOP_CAPTION * (nth + 1) };
}

/** What boxes need below them for the edges that lead back to themselves. */
function roomForLoops(edges: readonly LayoutEdge[]): Map<string, { below: number; wide: number }> {
  const loops = grouped(
    edges.filter(({ from, to }) => from === to),
    ({ from }) => from,
  );
  return new Map(
    [...loops].map(([name, own]) => [
      name,
      { below: loopBelow(own.length, own.length).caption, wide: largest(own, (each) => each.captionWidth) },
    ]),
  );
}

function span(columns: ReadonlyMap<string, number>, from: string, to: string): number {
  return Math.abs((columns.get(to) ?? 0) - (columns.get(from) ?? 0));
}

/** The places of an edge between its boxes: one in each column, and the caption in the first of them. */
interface Way {
  readonly cells: readonly Cell[];
  readonly caption: Cell | null;
  readonly back: boolean;
}

function wayOf(
  { captionWidth }: LayoutEdge,
  from: Cell | undefined,
  to: Cell | undefined,
  add: ((width: number, height: number, column: number, gap: number) => Cell) | null,
): Way {
  if (from === undefined || to === undefined || from.column === to.column || add === null) {
    return { cells: [], caption: null, back: false };
  }
  const cells: Cell[] = [];
  const step = Math.sign(to.column - from.column);
  for (let column = from.column + step; column !== to.column; column += step) {
    const isCaption = cells.length === 0;
    cells.push(
      isCaption ? add(captionWidth, CAPTION_HEIGHT, column, BEND_GAP) : add(0, BEND_HEIGHT, column, BEND_GAP),
    );
  }
  const way = [from, ...cells, to];
  for (const [i, cell] of way.entries()) {
    const next = way[i + 1];
    if (next === undefined) continue;
    cell.neighbours.push(next);
    next.neighbours.push(cell);
  }
  return { cells, caption: cells[0] ?? null, back: step < 0 };
}

/** The longest way from a source, without the edges that lead back. */
function columnsOf(boxes: readonly Box[], edges: readonly LayoutEdge[]): Map<string, number> {
  const after = new Map<string, string[]>(boxes.map(({ name }) => [name, []]));
  const hasInput = new Set<string>();
  for (const { from, to } of edges) {
    if (from === to) continue;
    after.get(from)?.push(to);
    hasInput.add(to);
  }
  const finished: string[] = [];
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  const roots = [...boxes].sort((a, b) => Number(hasInput.has(a.name)) - Number(hasInput.has(b.name)));
  for (const { name: root } of roots) {
    const work = [{ name: root, at: 0 }];
    if (state.has(root)) continue;
    state.set(root, "open");
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const next = after.get(frame.name)?.[frame.at++];
      if (next === undefined) {
        state.set(frame.name, "done");
        finished.push(frame.name);
        work.pop();
      } else if (state.get(next) === "open") {
        back.add(JSON.stringify([frame.name, next]));
      } else if (!state.has(next)) {
        state.set(next, "open");
        work.push({ name: next, at: 0 });
      }
    }
  }
  const columns = new Map<string, number>(boxes.map(({ name }) => [name, 0]));
  for (const name of finished.toReversed()) {
    for (const next of after.get(name) ?? []) {
      if (back.has(JSON.stringify([name, next]))) continue;
      columns.set(next, Math.max(columns.get(next) ?? 0, (columns.get(name) ?? 0) + 1));
    }
  }
  return columns;
}

function arrange(byColumn: readonly Cell[][]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const order = sweep % 2 === 0 ? byColumn : byColumn.toReversed();
    for (const column of order) {
      const wanted = new Map(column.map((cell) => [cell, averageOf(cell)]));
      column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0) || a.rank - b.rank);
      stack(column);
    }
  }
  const tallest = largest(byColumn, heightOf);
  for (const column of byColumn) {
    const shift = (tallest - heightOf(column)) / 2;
    for (const cell of column) cell.y += shift;
  }
}

function largest<T>(things: readonly T[], sizeOf: (thing: T) => number): number {
  return things.reduce((size, thing) => Math.max(size, sizeOf(thing)), 0);
}

function averageOf({ neighbours, y, height }: Cell): number {
  if (neighbours.length === 0) return y + height / 2;
  return neighbours.reduce((sum, each) => sum + each.y + each.height / 2, 0) / neighbours.length;
}

function stack(column: readonly Cell[]): void {
  let y = MARGIN;
  for (const cell of column) {
    cell.y = y;
    y += cell.height + cell.gap;
  }
}

function heightOf(column: readonly Cell[]): number {
  return column.reduce((sum, { height, gap }) => sum + height + gap, 0);
}
