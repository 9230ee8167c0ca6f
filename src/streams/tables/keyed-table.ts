import { invariant } from "../../errors.js";
import {
  Batch,
  ByteReader,
  ByteWriter,
  type Cell,
  type Column,
  cellAt,
  decodeBatch,
  emptyColumn,
  encodeBatch,
  gathered,
  grow,
  type Schema,
  setCell,
  setNumeric,
  widened,
} from "../columns/index.js";
import { type Find, findOf, type HashOf, hashOf, type Slots } from "./key-code.js";
import { scatter } from "./scatter.js";
import type { OperatorState } from "./state.js";
import { TextPool } from "./text-pool.js";

/** What generated code knows too: a row that is used, one that was changed since the last checkpoint, one that an operator noted. */
const LIVE = 1;
const CHANGED = 2;
const NOTED = 4;

/** Different in each process, so that keys that meet in one slot cannot be prepared. No result depends on it. */
const SEED = (Math.random() * 2 ** 32) | 0;

/**
 * A table by key: open addressing over typed arrays. A key gets a row, rows are numbered densely from 0, and key and values
 * of a row stand in columns, so there is no object per key and a snapshot is a copy of arrays. The table knows which rows
 * were changed since the last checkpoint; a delta has those and the numbers of rows that are gone.
 *
 * Generated code works on the arrays themselves and holds them in variables, which it reads again after an insertion. Rows
 * come in the order of insertion as long as none is removed; the number of a removed row is given out again.
 */
export class KeyedTable implements Slots, OperatorState {
  readonly columns: readonly Column[];
  slots = new Int32Array(16);
  hashes = new Int32Array(8);
  flags = new Uint8Array(8);
  readonly seed = SEED;
  hash = 0;
  /** The rows that were ever used: each is below this number. */
  rows = 0;
  readonly find: Find;
  readonly #hashOf: HashOf;
  readonly #pools: readonly TextPool[];
  #size = 0;
  #free: number[] = [];
  #changed: number[] = [];

  /** The first `keyCount` columns are the key. */
  constructor(
    readonly schema: Schema,
    readonly keyCount: number,
  ) {
    const pools: TextPool[] = [];
    this.columns = schema.map((spec) => {
      const pool = new TextPool();
      if (spec.type === "text" || spec.type === "json") pools.push(pool);
      return emptyColumn(spec, 8, pool);
    });
    this.#pools = pools;
    this.find = findOf(schema.slice(0, keyCount));
    this.#hashOf = hashOf(schema.slice(0, keyCount));
  }

  get size(): number {
    return this.#size;
  }

  /** What the table takes in memory. */
  get memoryBytes(): number {
    const arrays = [this.slots, this.hashes, this.flags, ...this.columns.flatMap(arraysOf)];
    const own = arrays.reduce((sum, each) => sum + each.byteLength, 0);
    const lists = 8 * (this.#free.length + this.#changed.length);
    return this.#pools.reduce((sum, pool) => sum + pool.memoryBytes, own + lists);
  }

  /** The pool of a text column. */
  pool(index: number): TextPool {
    const column = this.columns[index];
    invariant(column?.storage === "text" && column.texts instanceof TextPool, `column ${index} has no texts`);
    return column.texts;
  }

  /** Makes room for so many more rows. */
  reserve(more: number): void {
    const rows = this.rows + more;
    if (rows > this.hashes.length) {
      const capacity = Math.max(rows, 2 * this.hashes.length);
      for (const column of this.columns) grow(column, capacity);
      this.hashes = widened(this.hashes, new Int32Array(capacity));
      this.flags = widened(this.flags, new Uint8Array(capacity));
    }
    if (2 * rows <= this.slots.length) return;
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * rows)));
    for (let row = 0; row < this.rows; row++)
      if (((this.flags[row] as number) & LIVE) !== 0) this.#occupy(row, this.hashes[row] as number);
  }

  /**
   * A new row for the key that was just looked up and not found, whose hash is `this.hash`. The caller writes key and
   * values. The arrays may be other ones afterwards.
   */
  insert(): number {
    this.reserve(1);
    const row = this.#free.pop() ?? this.rows++;
    this.hashes[row] = this.hash;
    this.flags[row] = LIVE | ((this.flags[row] as number) & (CHANGED | NOTED));
    this.#occupy(row, this.hash);
    this.#size++;
    this.touch(row);
    return row;
  }

  /** Notes that a row was changed. */
  touch(row: number): void {
    const flags = this.flags[row] as number;
    if ((flags & CHANGED) !== 0) return;
    this.flags[row] = flags | CHANGED;
    this.#changed.push(row);
  }

  /** Counts a row's texts in, after they were written. */
  retain(row: number): void {
    for (const column of this.columns)
      if (column.storage === "text" && column.nulls?.[row] !== 1)
        (column.texts as TextPool).retain(column.codes[row] as number);
  }

  /** Writes a text into a row that has a key. */
  setText(index: number, row: number, text: string): void {
    const column = this.columns[index];
    const pool = this.pool(index);
    if (column?.storage !== "text") return;
    if (column.nulls?.[row] !== 1) pool.release(column.codes[row] as number);
    column.codes[row] = pool.intern(text);
    if (column.nulls !== null) column.nulls[row] = 0;
    pool.retain(column.codes[row] as number);
  }

  /** Writes any cell that is not of the key into a row. */
  set(index: number, row: number, cell: Cell): void {
    const column = this.columns[index];
    if (column === undefined) return;
    if (column.storage !== "text") this.#write(column, row, cell);
    else if (cell !== null) this.setText(index, row, String(cell));
    else if (column.nulls !== null && column.nulls[row] !== 1) {
      (column.texts as TextPool).release(column.codes[row] as number);
      column.nulls[row] = 1;
    }
  }

  remove(row: number): void {
    invariant(this.isLive(row), "a row that is not there is removed");
    this.touch(row);
    this.#release(row);
    this.#vacate(row);
    this.flags[row] = (this.flags[row] as number) & ~LIVE;
    this.#free.push(row);
    this.#size--;
  }

  /** Marks a row for an operator; whether it was not marked before. */
  note(row: number): boolean {
    const flags = this.flags[row] as number;
    this.flags[row] = flags | NOTED;
    return (flags & NOTED) === 0;
  }

  forget(row: number): void {
    this.flags[row] = (this.flags[row] as number) & ~NOTED;
  }

  /** Takes all rows out of a table without texts, and keeps the room that they had. */
  clear(): void {
    invariant(this.#pools.length === 0, "texts would be kept");
    for (const column of this.columns) if (column.storage === "numeric") column.bigs.clear();
    this.slots.fill(0);
    this.flags.fill(0, 0, this.rows);
    this.rows = 0;
    this.#size = 0;
    this.#free = [];
    this.#changed = [];
  }

  /** For how many rows there is room. */
  get capacity(): number {
    return this.hashes.length;
  }

  get hasTexts(): boolean {
    return this.#pools.length > 0;
  }

  /** Between batches: texts that no row has are freed. */
  settle(): void {
    for (const pool of this.#pools) pool.settle();
  }

  isLive(row: number): boolean {
    return ((this.flags[row] as number) & LIVE) !== 0;
  }

  cells(row: number): Cell[] {
    return this.columns.map((column) => cellAt(column, row));
  }

  /** The row of a key, with its values; for code that is not generated. */
  put(cells: readonly Cell[]): number {
    const found = this.find(this, ...this.#key(cells, (pool, text) => pool.intern(text)));
    const row = found < 0 ? this.insert() : found;
    if (found >= 0) this.#release(row);
    for (const [i, column] of this.columns.entries()) this.#write(column, row, cells[i] ?? null);
    this.retain(row);
    this.touch(row);
    return row;
  }

  lookUp(cells: readonly Cell[]): number {
    return this.find(this, ...this.#key(cells, (pool, text) => pool.find(text)));
  }

  base(): Buffer {
    const rows: number[] = [];
    for (let row = 0; row < this.rows; row++) if (this.isLive(row)) rows.push(row);
    return this.#written([], rows);
  }

  /** The numbers of rows that are gone, then rows as they are now. */
  delta(): Buffer | null {
    if (this.#changed.length === 0) return null;
    const changed = this.#changed.sort((a, b) => a - b);
    return this.#written(
      changed.filter((row) => !this.isLive(row)),
      changed.filter((row) => this.isLive(row)),
    );
  }

  /** The rows as a batch. It shares the columns of the table, and is right until the table changes. */
  get batch(): Batch {
    const batch = new Batch(this.schema, this.columns, null);
    batch.rows = this.rows;
    return batch;
  }

  /**
   * Rows keep their numbers, which other tables may hold. Numbers that are free are given out in one order from here on,
   * both by this table and by the table that loads the bytes, so that both go on alike.
   */
  #written(gone: readonly number[], rows: readonly number[]): Buffer {
    const out = new ByteWriter(64);
    out.varint(this.rows);
    out.varint(gone.length);
    for (const row of gone) out.u32(row);
    const isDense = rows.length === this.rows;
    out.u8(isDense ? 1 : 0);
    if (!isDense) {
      out.varint(rows.length);
      for (const row of rows) out.u32(row);
    }
    out.raw(encodeBatch(isDense ? this.batch : gathered(this.batch, Int32Array.from(rows), this.schema)));
    this.#settleRows();
    return out.written;
  }

  load(bytes: Buffer): void {
    const input = new ByteReader(bytes);
    const used = input.varint();
    for (let left = input.varint(); left > 0; left--) this.#clear(input.u32());
    const isDense = input.u8() === 1;
    const numbers = new Int32Array(isDense ? used : input.varint());
    for (let i = 0; i < numbers.length; i++) numbers[i] = isDense ? i : input.u32();
    const batch = decodeBatch(input.take(input.left), this.schema, Number.POSITIVE_INFINITY);
    invariant(batch.rows === numbers.length, "a checkpoint has as many rows as numbers of rows");
    this.reserve(used - this.rows);
    for (const row of numbers) this.#clear(row);
    this.rows = Math.max(this.rows, used);
    for (const [i, column] of this.columns.entries()) {
      const from = batch.columns[i];
      if (from !== undefined) scatter(column, from, numbers);
    }
    for (const row of numbers) {
      this.hashes[row] = this.#hashOf(this, row);
      this.flags[row] = LIVE;
      this.#occupy(row, this.hashes[row] as number);
    }
    this.#size += numbers.length;
    this.#free = [];
    if (this.#size < this.rows)
      for (let row = this.rows - 1; row >= 0; row--) if (!this.isLive(row)) this.#free.push(row);
    this.#settleRows();
    this.settle();
  }

  /** Takes a row out whose number is given anew. */
  #clear(row: number): void {
    if (row >= this.rows || !this.isLive(row)) return;
    this.#release(row);
    this.#vacate(row);
    this.flags[row] = 0;
    this.#size--;
  }

  #settleRows(): void {
    for (const row of this.#changed) this.flags[row] = (this.flags[row] as number) & ~CHANGED;
    this.#changed = [];
    this.#free.sort((a, b) => b - a);
  }

  #release(row: number): void {
    for (const column of this.columns)
      if (column.storage === "numeric") column.bigs.delete(row);
      else if (column.storage === "text" && column.nulls?.[row] !== 1)
        (column.texts as TextPool).release(column.codes[row] as number);
  }

  #write(column: Column, row: number, cell: Cell): void {
    if (column.storage === "numeric" && cell !== null) {
      if (column.nulls !== null) column.nulls[row] = 0;
      setNumeric(column, row, cell as number | bigint);
    } else if (column.storage === "text" && cell !== null) {
      if (column.nulls !== null) column.nulls[row] = 0;
      column.codes[row] = (column.texts as TextPool).intern(String(cell));
    } else setCell(column, row, cell);
  }

  /** A key as the numbers that `find` takes. */
  #key(cells: readonly Cell[], codeOf: (pool: TextPool, text: string) => number): (number | bigint)[] {
    return this.schema.slice(0, this.keyCount).flatMap(({ nullable }, i) => {
      const cell = cells[i] ?? null;
      const isText = this.columns[i]?.storage === "text";
      const value =
        cell === null
          ? 0
          : isText
            ? codeOf(this.pool(i), String(cell))
            : typeof cell === "bigint"
              ? cell
              : Number(cell) + 0;
      return nullable ? [value, cell === null ? 1 : 0] : [value];
    });
  }

  #occupy(row: number, hash: number): void {
    const mask = this.slots.length - 1;
    let at = hash & mask;
    while (this.slots[at] !== 0) at = (at + 1) & mask;
    this.slots[at] = row + 1;
  }

  /** Without marks for removed rows: the rows behind the gap move up into it where that is nearer to their place. */
  #vacate(row: number): void {
    const { slots } = this;
    const mask = slots.length - 1;
    let gap = (this.hashes[row] as number) & mask;
    while (slots[gap] !== row + 1) gap = (gap + 1) & mask;
    for (let at = (gap + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const home = (this.hashes[(slots[at] as number) - 1] as number) & mask;
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      slots[gap] = slots[at] as number;
      gap = at;
    }
    slots[gap] = 0;
  }
}

function arraysOf(column: Column): (Float64Array | Int32Array | Uint8Array)[] {
  const values = column.storage === "text" ? column.codes : column.values;
  return column.nulls === null ? [values] : [values, column.nulls];
}
