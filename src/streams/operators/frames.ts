import { LIBRARY } from "../codegen/index.js";
import {
  type Cell,
  type Column,
  cellAt,
  compareCells,
  numericOf,
  type Scaled,
  type Schema,
  wholeMicros,
} from "../columns/index.js";
import type { OverFunction, SortKey, WindowFrame } from "../plan/index.js";

/** The rows of a partition in their order, as slots; a row that counts twice stands twice. */
export interface OrderedRows {
  readonly slots: readonly number[];
  /** Where the rows begin that the order does not tell apart from each row, and where those behind them begin. */
  readonly peerStart: readonly number[];
  readonly peerEnd: readonly number[];
}

/** From the first row of the frame of row `i` to behind the last; empty if the first is not before the second. */
export type FrameAt = (i: number) => readonly [from: number, to: number];

/**
 * Which rows count for each row of a partition, and which rows a changed row counts for. Frames of ROWS and GROUPS count rows and peers;
 * those of RANGE with an offset look at the one value that the rows are ordered by.
 */
export class FrameSites {
  readonly #value: (slot: number) => Cell;
  readonly #isDescending: boolean;
  readonly #moved: (value: Exclude<Cell, null>, by: number) => Exclude<Cell, null>;

  constructor(order: readonly SortKey[], columns: readonly Column[], schema: Schema) {
    const key = order[0];
    const spec = schema[key?.index ?? 0];
    this.#value = (slot) => cellAt(columns[key?.index ?? 0] as Column, slot);
    this.#isDescending = key?.descending === true;
    this.#moved = (value, by) => {
      const own = this.#isDescending ? -by : by;
      if (spec?.type === "numeric")
        return LIBRARY.addNumeric(value as Scaled, numericOf(String(own), spec.scale) ?? 0);
      const sum = Number(value) + own;
      return spec?.type === "timestamp" ? wholeMicros(sum) : sum;
    };
  }

  of(frame: WindowFrame, rows: OrderedRows): FrameAt {
    const { unit, start, end } = frame;
    const { slots, peerStart, peerEnd } = rows;
    const last = slots.length;
    if (unit === "rows")
      return (i) => [
        start === null ? 0 : Math.min(last, Math.max(0, i + start)),
        end === null ? last : Math.min(last, Math.max(0, i + end + 1)),
      ];
    if (isByValue(frame)) return this.#byValue(frame, rows);
    if (unit === "range")
      return (i) => [
        start === null ? 0 : (peerStart[i] as number),
        end === null ? last : (peerEnd[i] as number),
      ];
    // Each row's group of peers by its number, and where the groups begin.
    const begins = slots.flatMap((_, i) => (peerStart[i] === i ? [i] : []));
    const groups: number[] = [];
    for (const i of slots.keys()) groups.push((groups[i - 1] ?? -1) + (peerStart[i] === i ? 1 : 0));
    const at = (group: number) => (group < 0 ? 0 : (begins[group] ?? last));
    return (i) => [
      start === null ? 0 : at((groups[i] as number) + start),
      end === null ? last : at((groups[i] as number) + end + 1),
    ];
  }

  /** Bounds move on as the rows do, so each is found by going on from the one before. Rows without a value are their own frame. */
  #byValue({ start, end }: WindowFrame, { slots, peerStart, peerEnd }: OrderedRows): FrameAt {
    const isNull = (i: number) => this.#value(slots[i] as number) === null;
    let [first, behind] = [0, slots.length];
    while (first < behind && isNull(first)) first = peerEnd[first] as number;
    while (behind > first && isNull(behind - 1)) behind = peerStart[behind - 1] as number;
    let [from, to] = [first, first];
    return (i) => {
      const own = this.#value(slots[i] as number);
      if (own === null)
        return [
          start === null ? 0 : (peerStart[i] as number),
          end === null ? slots.length : (peerEnd[i] as number),
        ];
      if (start !== null)
        while (from < behind && this.#compare(slots[from] as number, own, start) < 0) from++;
      if (end !== null) while (to < behind && this.#compare(slots[to] as number, own, end) <= 0) to++;
      return [start === null ? 0 : from, end === null ? slots.length : to];
    };
  }

  /** Whether the value of a row stands before (below 0), at or behind another one that is moved by so much, in the order. */
  #compare(slot: number, own: Exclude<Cell, null>, by: number): number {
    const value = this.#value(slot) as Exclude<Cell, null>;
    const order = compareCells(value, this.#moved(own, by));
    return this.#isDescending ? -order : order;
  }

  /** The row nearest to the beginning (`step` -1) or the end (1) whose value is no further than `by` from that of a row. */
  within(slots: readonly number[], at: number, of: number, by: number, step: -1 | 1): number {
    const own = this.#value(of);
    let i = at;
    for (; i + step >= 0 && i + step < slots.length; i += step) {
      const next = slots[i + step] as number;
      const isNear =
        own === null || this.#value(next) === null
          ? own === this.#value(next)
          : this.#compare(next, own, step * by) * step <= 0;
      if (!isNear) break;
    }
    return i;
  }
}

function isByValue({ unit, start, end }: WindowFrame): boolean {
  return unit === "range" && ((start ?? 0) !== 0 || (end ?? 0) !== 0);
}

/** How far the values of a row depend on the rows before and behind it: in rows, and in what they are ordered by. */
export interface Reach {
  readonly rows: { readonly before: number; readonly behind: number };
  readonly values: { readonly before: number; readonly behind: number } | null;
}

/** `null` if that has no bound, or one that only the whole partition tells. */
export function reachOf(functions: readonly OverFunction[]): Reach | null {
  const [rows, values] = [
    { before: 0, behind: 0 },
    { before: 0, behind: 0 },
  ];
  let isByValues = false;
  for (const each of functions) {
    if (each.kind === "rank" || each.kind === "share") return null;
    if (each.kind === "neighbour") {
      const distance = each.name === "lag" ? -each.offset : each.offset;
      widen(rows, distance, distance);
      continue;
    }
    const { unit, start, end } = each.frame;
    if (start === null || end === null || !(unit === "rows" || isByValue(each.frame))) return null;
    isByValues ||= unit === "range";
    widen(unit === "rows" ? rows : values, start, end);
  }
  return { rows, values: isByValues ? values : null };
}

function widen(reach: { before: number; behind: number }, start: number, end: number): void {
  reach.before = Math.max(reach.before, -start, -end);
  reach.behind = Math.max(reach.behind, start, end);
}
