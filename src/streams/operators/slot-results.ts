import { Batch, type Cell, type Column, emptyColumn, type Schema, setCell } from "../columns/index.js";
import type { SlotRows } from "../tables/index.js";

/** Rows of slots that are to be emitted, with weights and with values behind their columns, gathered into one batch. */
export class SlotResults {
  #slots: number[] = [];
  #weights: number[] = [];
  #values: (readonly Cell[])[] = [];

  constructor(
    readonly schema: Schema,
    readonly rows: SlotRows,
    readonly isOnce: boolean,
  ) {}

  add(slot: number, weight: number, values: readonly Cell[]): void {
    if (this.isOnce && weight > 1) {
      for (let left = weight; left > 0; left--) this.add(slot, 1, values);
      return;
    }
    this.#slots.push(slot);
    this.#weights.push(weight);
    this.#values.push(values);
  }

  /** What was noted since the last call. */
  take(): Batch | null {
    const count = this.#slots.length;
    if (count === 0) return null;
    const width = this.rows.own.length;
    const columns = this.schema.map((spec, index) => {
      const column = emptyColumn(spec, count);
      if (index < width) copy(column, this.rows.columns[index] as Column, this.#slots);
      else
        for (const [i, values] of this.#values.entries()) setCell(column, i, values[index - width] ?? null);
      return column;
    });
    const isPlain = this.#weights.every((weight) => weight === 1);
    const batch = new Batch(this.schema, columns, isPlain ? null : Int32Array.from(this.#weights));
    batch.rows = count;
    [this.#slots, this.#weights, this.#values] = [[], [], []];
    return batch;
  }
}

/** Texts are copied: those of a slot change when another row gets it. */
function copy(to: Column, from: Column, slots: readonly number[]): void {
  if (to.storage !== "text" || from.storage !== "text") {
    if (to.storage === "numeric" && from.storage === "numeric") {
      for (const [i, slot] of slots.entries()) {
        const large = from.bigs.get(slot);
        to.values[i] = from.values[slot] as number;
        if (large !== undefined) to.bigs.set(i, large);
        if (to.nulls !== null && from.nulls !== null) to.nulls[i] = from.nulls[slot] as number;
      }
      return;
    }
    if (to.storage === "text" || from.storage === "text") return;
    for (let i = 0; i < slots.length; i++) to.values[i] = from.values[slots[i] as number] as number;
    if (to.nulls !== null && from.nulls !== null)
      for (let i = 0; i < slots.length; i++) to.nulls[i] = from.nulls[slots[i] as number] as number;
    return;
  }
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as number;
    const isNull = from.nulls !== null && from.nulls[slot] === 1;
    if (to.nulls !== null && isNull) to.nulls[i] = 1;
    to.codes[i] = isNull ? 0 : to.texts.add(from.texts.get(slot));
  }
}
