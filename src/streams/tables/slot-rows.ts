import {
  Batch,
  ByteReader,
  ByteWriter,
  type Column,
  column,
  decodeBatch,
  emptyColumn,
  encodeBatch,
  gathered,
  grow,
  type NumberColumn,
  type Schema,
  setNumeric,
  Texts,
  widened,
} from "../columns/index.js";
import type { OperatorState } from "./state.js";

const LIVE = 1;
const CHANGED = 2;

/**
 * Rows with weights in numbered slots: the number of a row that is gone is given out again. Nothing is looked up by value, and
 * each slot has its own text per column, so a row is written by copying its cells. A delta of a checkpoint has the numbers of
 * the rows that are gone and the rows that were written or whose weight changed.
 */
export class SlotRows implements OperatorState {
  readonly schema: Schema;
  readonly columns: readonly Column[];
  /** Every slot that was ever used is below this number. */
  rows = 0;
  readonly #weights: NumberColumn;
  #flags = new Uint8Array(8);
  #free: number[] = [];
  #changed: number[] = [];

  constructor(readonly own: Schema) {
    this.schema = [...own, column("weight", "int", false)];
    this.columns = this.schema.map((spec) => emptyColumn(spec, 8, new SlotTexts()));
    this.#weights = this.columns[own.length] as NumberColumn;
  }

  get memoryBytes(): number {
    const row = this.columns.reduce((sum, each) => sum + bytesPerRow(each), 1);
    const rest = this.columns.reduce(
      (sum, each) => {
        if (each.storage === "text") return sum + (each.texts as SlotTexts).memoryBytes;
        return each.storage === "numeric" ? sum + 64 * each.bigs.size : sum;
      },
      8 * (this.#free.length + this.#changed.length),
    );
    return row * this.#flags.length + rest;
  }

  /** A slot for a row whose cells the caller writes. */
  take(): number {
    const slot = this.#free.pop() ?? this.rows++;
    if (slot >= this.#flags.length) this.#reserve(slot + 1);
    return slot;
  }

  /** Gives back a slot that was taken and not begun. */
  giveBack(slot: number): void {
    this.#free.push(slot);
  }

  /** The row in a slot is whole, and counts. */
  begin(slot: number, weight: number): void {
    this.#weights.values[slot] = weight;
    this.#flags[slot] = (this.#flags[slot] as number) | LIVE;
    this.#touch(slot);
  }

  weight(slot: number): number {
    return this.#weights.values[slot] as number;
  }

  addWeight(slot: number, weight: number): number {
    this.#touch(slot);
    const after = this.weight(slot) + weight;
    this.#weights.values[slot] = after;
    return after;
  }

  remove(slot: number): void {
    this.#flags[slot] = (this.#flags[slot] as number) & ~LIVE;
    this.#touch(slot);
    for (const each of this.columns)
      if (each.storage === "text") (each.texts as SlotTexts).put(slot, "");
      else if (each.storage === "numeric") each.bigs.delete(slot);
    this.#free.push(slot);
  }

  isLive(slot: number): boolean {
    return ((this.#flags[slot] as number) & LIVE) !== 0;
  }

  /** Copies one cell of a batch. */
  write(index: number, slot: number, from: Column, row: number): void {
    const to = this.columns[index] as Column;
    if (to.nulls !== null) {
      const isNull = from.nulls !== null && from.nulls[row] === 1;
      to.nulls[slot] = isNull ? 1 : 0;
    }
    if (to.storage === "text" && from.storage === "text") {
      to.codes[slot] = slot;
      const isNull = to.nulls !== null && to.nulls[slot] === 1;
      (to.texts as SlotTexts).put(slot, isNull ? "" : from.texts.get(from.codes[row] as number));
    } else if (to.storage === "numeric" && from.storage === "numeric")
      setNumeric(to, slot, from.bigs.get(row) ?? (from.values[row] as number));
    else if (to.storage !== "text" && from.storage !== "text") to.values[slot] = from.values[row] as number;
  }

  /** Copies rows of a batch of the same columns into slots, column by column. */
  copy(from: readonly Column[], rows: Int32Array, slots: Int32Array): void {
    for (let index = 0; index < this.own.length; index++) {
      const [to, source] = [this.columns[index], from[index]];
      if (to === undefined || source === undefined) continue;
      if (to.storage === "number" && source.storage === "number") {
        for (let i = 0; i < rows.length; i++)
          to.values[slots[i] as number] = source.values[rows[i] as number] as number;
        if (to.nulls !== null && source.nulls !== null)
          for (let i = 0; i < rows.length; i++)
            to.nulls[slots[i] as number] = source.nulls[rows[i] as number] as number;
      } else
        for (let i = 0; i < rows.length; i++)
          this.write(index, slots[i] as number, source, rows[i] as number);
    }
  }

  /** All slots as rows of a batch that shares the columns. */
  get batch(): Batch {
    const batch = new Batch(this.own, this.columns.slice(0, this.own.length), null);
    batch.rows = this.rows;
    return batch;
  }

  live(): number[] {
    return Array.from({ length: this.rows }, (_, slot) => slot).filter((slot) => this.isLive(slot));
  }

  base(): Buffer {
    return this.#written([], this.live());
  }

  delta(): Buffer | null {
    if (this.#changed.length === 0) return null;
    const changed = this.#changed.sort((a, b) => a - b);
    return this.#written(
      changed.filter((slot) => !this.isLive(slot)),
      changed.filter((slot) => this.isLive(slot)),
    );
  }

  load(bytes: Buffer): void {
    const input = new ByteReader(bytes);
    this.rows = Math.max(this.rows, input.varint());
    this.#reserve(this.rows);
    for (let left = input.varint(); left > 0; left--) this.#flags[input.u32()] = 0;
    const slots = Array.from({ length: input.varint() }, () => input.u32());
    const batch = decodeBatch(input.take(input.left), this.schema, Number.POSITIVE_INFINITY);
    for (const [i, slot] of slots.entries()) {
      for (const [index, from] of batch.columns.entries()) this.write(index, slot, from, i);
      this.#flags[slot] = LIVE;
    }
    this.#settled();
  }

  #written(gone: readonly number[], slots: readonly number[]): Buffer {
    const out = new ByteWriter(64);
    out.varint(this.rows);
    out.varint(gone.length);
    for (const slot of gone) out.u32(slot);
    out.varint(slots.length);
    for (const slot of slots) out.u32(slot);
    const all = new Batch(this.schema, this.columns, null);
    all.rows = this.rows;
    out.raw(encodeBatch(gathered(all, Int32Array.from(slots), this.schema)));
    this.#settled();
    return out.written;
  }

  /** After a checkpoint, slots are given out in the same order by this table and by the table that loads it. */
  #settled(): void {
    for (const slot of this.#changed) this.#flags[slot] = (this.#flags[slot] as number) & ~CHANGED;
    this.#changed = [];
    this.#free = [];
    for (let slot = this.rows - 1; slot >= 0; slot--) if (!this.isLive(slot)) this.#free.push(slot);
  }

  #touch(slot: number): void {
    const flags = this.#flags[slot] as number;
    if ((flags & CHANGED) !== 0) return;
    this.#flags[slot] = flags | CHANGED;
    this.#changed.push(slot);
  }

  #reserve(rows: number): void {
    if (rows <= this.#flags.length) return;
    const capacity = Math.max(rows, 2 * this.#flags.length);
    for (const each of this.columns) grow(each, capacity);
    this.#flags = widened(this.#flags, new Uint8Array(capacity));
  }
}

/** One text per slot, under the slot's number. */
class SlotTexts extends Texts {
  memoryBytes = 0;

  put(slot: number, text: string): void {
    while (this.size <= slot) this.add("");
    this.memoryBytes += 2 * (text.length - this.get(slot).length);
    this.replace(slot, text);
  }
}

function bytesPerRow(given: Column): number {
  const value = given.storage === "bool" ? 1 : given.storage === "text" ? 28 : 8;
  return given.nulls === null ? value : value + 1;
}
