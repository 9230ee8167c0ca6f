import { LIBRARY } from "../codegen/index.js";
import { type Cell, type Column, cellAt, compareCells, type Scaled, type Schema } from "../columns/index.js";
import type { OverFunction } from "../plan/index.js";
import type { FrameAt, FrameSites, OrderedRows } from "./frames.js";

type Aggregate = Extract<OverFunction, { kind: "aggregate" }>;

export function withPeers(slots: readonly number[], isPeer: (a: number, b: number) => boolean): OrderedRows {
  const [peerStart, peerEnd] = [new Array<number>(slots.length), new Array<number>(slots.length)];
  for (let start = 0; start < slots.length; ) {
    let end = start + 1;
    while (end < slots.length && isPeer(slots[start] as number, slots[end] as number)) end++;
    for (let i = start; i < end; i++) [peerStart[i], peerEnd[i]] = [start, end];
    start = end;
  }
  return { slots, peerStart, peerEnd };
}

/** What a function gives for each row of a partition. */
export function overValues(
  what: OverFunction,
  rows: OrderedRows,
  columns: readonly Column[],
  schema: Schema,
  sites: FrameSites,
): readonly Cell[] {
  const at = (index: number, slot: number) => cellAt(columns[index] as Column, slot);
  switch (what.kind) {
    case "rank":
      return ranks(what.name, rows);
    case "share":
      return shares(what, rows);
    case "neighbour":
      return rows.slots.map((own, i) => {
        const other = rows.slots[what.name === "lag" ? i - what.offset : i + what.offset];
        if (other !== undefined) return at(what.operand, other);
        return what.otherwise === null ? null : at(what.otherwise, own);
      });
    case "edge":
    case "nth": {
      const frames = sites.of(what.frame, rows);
      return rows.slots.map((_, i) => {
        const [from, to] = frames(i);
        const place = what.kind === "nth" ? from + what.nth - 1 : what.name === "first_value" ? from : to - 1;
        return place < from || place >= to ? null : at(what.operand, rows.slots[place] as number);
      });
    }
    case "aggregate":
      return frameAggregates(what, rows.slots, columns, schema, sites.of(what.frame, rows));
  }
}

function ranks(
  name: Extract<OverFunction, { kind: "rank" }>["name"],
  { slots, peerStart }: OrderedRows,
): Cell[] {
  let dense = 0;
  return slots.map((_, i) => {
    if (name === "row_number") return i + 1;
    if (peerStart[i] === i) dense++;
    return name === "rank" ? (peerStart[i] as number) + 1 : dense;
  });
}

function shares(
  what: Extract<OverFunction, { kind: "share" }>,
  { slots, peerStart, peerEnd }: OrderedRows,
): Cell[] {
  const all = slots.length;
  switch (what.name) {
    case "ntile": {
      // The first buckets have one row more where the rows do not come out even.
      const [size, larger] = [Math.floor(all / what.buckets), all % what.buckets];
      const inLarger = larger * (size + 1);
      return slots.map((_, i) =>
        i < inLarger ? Math.floor(i / (size + 1)) + 1 : larger + Math.floor((i - inLarger) / size) + 1,
      );
    }
    case "percent_rank":
      return slots.map((_, i) => (all === 1 ? 0 : (peerStart[i] as number) / (all - 1)));
    case "cume_dist":
      return slots.map((_, i) => (peerEnd[i] as number) / all);
  }
}

/** A frame that only grows is added up as it does; others are added up anew for each row. */
function frameAggregates(
  what: Aggregate,
  slots: readonly number[],
  columns: readonly Column[],
  schema: Schema,
  frames: FrameAt,
): Cell[] {
  const operand = what.operand === null ? null : (columns[what.operand] as Column);
  const filter = what.filter === null ? null : (columns[what.filter] as Column);
  const scale = what.operand === null ? 0 : (schema[what.operand]?.scale ?? 0);
  const valueAt = (i: number): Cell => {
    const slot = slots[i] as number;
    if (filter !== null && cellAt(filter, slot) !== true) return null;
    return operand === null ? true : cellAt(operand, slot);
  };
  let [from, to, total] = [0, 0, new Total(what, scale)];
  return slots.map((_, i) => {
    const [start, end] = frames(i);
    if (start !== from || end < to) [from, to, total] = [start, start, new Total(what, scale)];
    for (; to < end; to++) total.add(valueAt(to));
    return total.value;
  });
}

/** One aggregate over the values that it was given. */
class Total {
  #count = 0;
  #sum: Scaled = 0;
  #value: Cell = null;

  constructor(
    readonly what: Aggregate,
    readonly scale: number,
  ) {}

  add(value: Cell): void {
    if (value === null) return;
    this.#count++;
    const { name, type } = this.what;
    if (name === "sum" || name === "avg")
      this.#sum =
        type === "float" ? Number(this.#sum) + Number(value) : LIBRARY.addNumeric(this.#sum, value as Scaled);
    else if (name === "bool_and") this.#value = this.#value !== false && value === true;
    else if (name === "bool_or") this.#value = this.#value === true || value === true;
    else if (name === "min" || name === "max") {
      const order = this.#value === null ? 0 : compareCells(value, this.#value);
      if (this.#value === null || (name === "min" ? order < 0 : order > 0)) this.#value = value;
    }
  }

  get value(): Cell {
    const { name, type, scale } = this.what;
    if (name === "count") return this.#count;
    if (this.#count === 0) return null;
    if (name === "sum") return type === "int" ? LIBRARY.numericToInt(this.#sum) : this.#sum;
    if (name !== "avg") return this.#value;
    if (type === "float") return Number(this.#sum) / this.#count;
    return LIBRARY.divideNumeric(LIBRARY.rescale(this.#sum, scale - this.scale), this.#count);
  }
}
