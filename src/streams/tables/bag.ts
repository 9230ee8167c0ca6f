import {
  appendRows,
  Batch,
  decodeBatch,
  emptyColumn,
  encodeBatch,
  gathered,
  type Schema,
  Texts,
  widened,
} from "../columns/index.js";
import type { OperatorState } from "./state.js";

/** Room for so many rows is not given back. */
const ROWS_KEPT = 16_384;

/**
 * Rows that are found by a key, many to a key, and never taken back: a side of a join over a stream. Rows stand in columns, in
 * the order of their coming, and those of one key form a chain, `next` by row, whose head the table of keys holds. A row and
 * the head of a chain are counted from 1, so that 0 ends a chain. No row is looked up by its values, so texts are only appended.
 *
 * Rows are freed many at a time (`keep`): the others move up. A delta of a checkpoint has the rows that came since the last one;
 * rows that were freed are missing in the next base.
 */
export class Bag implements OperatorState {
  #batch: Batch;
  next = new Int32Array(16);
  /** In one-shot queries: how many rows of the other side meet a row, and of how many it is not known. */
  matches = new Int32Array(0);
  unknown = new Int32Array(0);
  /** Rows were loaded or moved, and their chains are still to be made. */
  isUnlinked = false;
  /** Rows were freed that must not come back: the next checkpoint is a base. */
  isRebased = false;
  /** How many rows, the last ones, no checkpoint has. */
  #unwritten = 0;
  #known = 0;

  constructor(
    readonly schema: Schema,
    readonly counts = false,
  ) {
    this.#batch = emptyRows(schema);
  }

  get batch(): Batch {
    return this.#batch;
  }

  get columns(): Batch["columns"] {
    return this.#batch.columns;
  }

  get rows(): number {
    return this.#batch.rows;
  }

  get memoryBytes(): number {
    const { capacity } = this.#batch;
    const texts = this.columns.reduce(
      (sum, each) =>
        each.storage === "text" && each.texts instanceof WeighedTexts ? sum + each.texts.memoryBytes : sum,
      0,
    );
    const row = this.schema.reduce((sum, spec) => sum + widthOf(spec), 4);
    return texts + row * capacity;
  }

  /** Makes room for so many more rows. The arrays may be other ones afterwards. */
  reserve(more: number): void {
    this.#batch.reserve(more);
    const wanted = Math.max(this.#batch.capacity, this.rows + more);
    if (wanted > this.next.length) this.next = widened(this.next, new Int32Array(wanted));
    if (!this.counts || wanted <= this.matches.length) return;
    this.matches = widened(this.matches, new Int32Array(wanted));
    this.unknown = widened(this.unknown, new Int32Array(wanted));
  }

  /** Keeps these rows, in the order of their numbers, and frees the others. */
  keep(rows: Int32Array): void {
    const firstUnwritten = this.rows - this.#appended();
    let unwritten = 0;
    for (let i = rows.length - 1; i >= 0 && (rows[i] as number) >= firstUnwritten; i--) unwritten++;
    // Arrays that are about as large as needed are used again.
    if (this.#batch.capacity > 8 * rows.length + ROWS_KEPT) {
      const kept = emptyRows(this.schema);
      appendRows(kept, gathered(this.#batch, rows, this.schema));
      this.#batch = kept;
      this.next = new Int32Array(Math.max(16, kept.capacity));
    } else this.#moveUp(rows);
    this.isUnlinked = true;
    this.#unwritten = unwritten;
    this.#known = this.rows;
  }

  #moveUp(rows: Int32Array): void {
    for (const column of this.columns) {
      if (column.nulls !== null) move(column.nulls, rows);
      if (column.storage === "numeric") {
        const { bigs } = column;
        column.bigs = new Map();
        for (const [i, row] of rows.entries()) {
          const big = bigs.get(row);
          if (big !== undefined) column.bigs.set(i, big);
        }
      }
      if (column.storage !== "text") {
        move(column.values, rows);
        continue;
      }
      // Results share the texts that were, so these stay as they are.
      const { codes, texts, nulls } = column;
      const known = new Int32Array(texts.size).fill(-1);
      column.texts = new WeighedTexts();
      for (let i = 0; i < rows.length; i++) {
        if (nulls !== null && nulls[i] === 1) {
          codes[i] = 0;
          continue;
        }
        const code = codes[rows[i] as number] as number;
        if (known[code] === -1) known[code] = column.texts.add(texts.get(code));
        codes[i] = known[code] as number;
      }
    }
    this.#batch.rows = rows.length;
  }

  base(): Buffer {
    this.#written();
    return encodeBatch(this.#batch);
  }

  delta(): Buffer | null {
    const count = this.#appended();
    if (count === 0) return null;
    const from = this.rows - count;
    this.#written();
    const rows = Int32Array.from({ length: count }, (_, i) => from + i);
    return encodeBatch(gathered(this.#batch, rows, this.schema));
  }

  load(bytes: Buffer): void {
    appendRows(this.#batch, decodeBatch(bytes, this.schema, Number.POSITIVE_INFINITY));
    this.reserve(0);
    this.#written();
    this.isUnlinked = true;
  }

  #appended(): number {
    return this.#unwritten + this.rows - this.#known;
  }

  #written(): void {
    this.isRebased = false;
    this.#unwritten = 0;
    this.#known = this.rows;
  }
}

/** Rows as far up as they can go; their numbers ascend. */
function move(values: Float64Array | Int32Array | Uint8Array, rows: Int32Array): void {
  for (let i = 0; i < rows.length; i++) values[i] = values[rows[i] as number] as number;
}

/** Texts that know what they take, roughly: two bytes a character and what a string is. */
class WeighedTexts extends Texts {
  memoryBytes = 0;

  override add(text: string): number {
    this.memoryBytes += 2 * text.length + 24;
    return super.add(text);
  }
}

function emptyRows(schema: Schema): Batch {
  return new Batch(
    schema,
    schema.map((spec) => emptyColumn(spec, 16, new WeighedTexts())),
    null,
  );
}

function widthOf({ type, nullable }: Schema[number]): number {
  const values = type === "bool" ? 1 : type === "text" || type === "json" ? 4 : 8;
  return nullable ? values + 1 : values;
}
