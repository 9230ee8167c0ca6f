/**
 * A layered drawing: every box in a column after those that lead to it, edges over several columns bent through
 * places of their own, and each column sorted by where its neighbours stand.
 */

export interface Box {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** The room that its caption needs. */
  readonly captionWidth: number;
}

export interface PlacedBox extends Box {
  readonly x: number;
  readonly y: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, PlacedBox>;
  /** For each edge, in order: the points that it passes, from left to right or, if it leads back, from right to left. */
  readonly ways: readonly (readonly Point[])[];
}

const GAP_X = 36;
const GAP_Y = 56;
const MARGIN = 36;
const SWEEPS = 4;
const BEND_HEIGHT = 4;
/** Beyond this a picture is a tangle anyway; its edges go straight. */
const BENDS_MAX = 50_000;

interface Cell {
  readonly width: number;
  readonly height: number;
  readonly column: number;
  x: number;
  y: number;
  rank: number;
  readonly neighbours: Cell[];
}

export function layOut(boxes: readonly Box[], edges: readonly Edge[]): Layout {
  const columns = columnsOf(boxes, edges);
  const cells = new Map<string, Cell>();
  const all: Cell[] = [];
  const add = (width: number, height: number, column: number) => {
    const cell: Cell = { width, height, column, x: 0, y: 0, rank: all.length, neighbours: [] };
    all.push(cell);
    return cell;
  };
  for (const { name, width, height } of boxes) cells.set(name, add(width, height, columns.get(name) ?? 0));
  const bends = edges.reduce((sum, { from, to }) => sum + span(columns, from, to), 0);
  const ways = edges.map(({ from, to }) =>
    wayOf(cells.get(from), cells.get(to), bends > BENDS_MAX ? null : add),
  );
  const byColumn: Cell[][] = [];
  for (const cell of all) (byColumn[cell.column] ??= []).push(cell);
  arrange(byColumn);

  const gaps = byColumn.map(() => GAP_X);
  for (const [i, edge] of edges.entries()) {
    const columnsOfWay = ways[i]?.map(({ column }) => column) ?? [];
    const left = Math.min(...columnsOfWay);
    gaps[left] = Math.max(gaps[left] ?? 0, edge.captionWidth + GAP_X);
  }
  let x = MARGIN;
  for (const [i, column] of byColumn.entries()) {
    const width = largest(column, (cell) => cell.width);
    for (const cell of column) cell.x = x + (width - cell.width) / 2;
    x += width + (gaps[i] ?? 0);
  }
  const height = largest(all, (cell) => cell.y + cell.height) + 2 * MARGIN;
  const placed = boxes.flatMap((box): [string, PlacedBox][] => {
    const cell = cells.get(box.name);
    return cell === undefined ? [] : [[box.name, { ...box, x: cell.x, y: cell.y }]];
  });
  const middle = ({ x, y, width, height }: Cell) => ({ x: x + width / 2, y: y + height / 2 });
  return { width: x + MARGIN, height, boxes: new Map(placed), ways: ways.map((way) => way.map(middle)) };
}

function span(columns: ReadonlyMap<string, number>, from: string, to: string): number {
  return Math.abs((columns.get(to) ?? 0) - (columns.get(from) ?? 0));
}

/** From cell to cell, through a place in each column between. */
function wayOf(
  from: Cell | undefined,
  to: Cell | undefined,
  add: ((w: number, h: number, c: number) => Cell) | null,
): Cell[] {
  if (from === undefined || to === undefined) return [];
  const way = [from];
  const step = Math.sign(to.column - from.column);
  for (let column = from.column + step; add !== null && step !== 0 && column !== to.column; column += step) {
    way.push(add(0, BEND_HEIGHT, column));
  }
  way.push(to);
  for (const [i, cell] of way.entries()) {
    const next = way[i + 1];
    if (next === undefined || next === cell) continue;
    cell.neighbours.push(next);
    next.neighbours.push(cell);
  }
  return way;
}

/** The longest way from a source, without the edges that lead back. */
function columnsOf(boxes: readonly Box[], edges: readonly Edge[]): Map<string, number> {
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
      const wish = new Map(column.map((cell) => [cell, averageOf(cell)]));
      column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || a.rank - b.rank);
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
    y += cell.height + GAP_Y;
  }
}

function heightOf(column: readonly Cell[]): number {
  return column.reduce((sum, { height }) => sum + height + GAP_Y, 0);
}
