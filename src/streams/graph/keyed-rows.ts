import { Batch, type Cell, decodeBatch, encodeBatch, type Schema } from "../columns/index.js";
import { cellsText, compareCells } from "./cells.js";
import type { CheckpointPart, OwnParts } from "./parts.js";
import { partsBelow } from "./parts.js";

interface Entry {
  readonly cells: readonly Cell[];
  /** How many times the row is there. */
  readonly count: number;
}

const ENTRY_BYTES = 120;
const CELL_BYTES = 16;
const PREFIX = "rows/";

/**
 * The rows that a table or a view holds now. With a key there is one row for each value of the key; without one, equal rows
 * are counted. A checkpoint writes the changed rows, as a delta of weighted rows; when the deltas are larger than the whole, it
 * writes the whole and deletes them.
 */
export class KeyedRows {
  readonly #rows = new Map<string, Entry>();
  /** By key: what was there at the last checkpoint, of keys that were changed since. */
  #changed = new Map<string, Entry | null>();
  #sorted: readonly Entry[] | null = null;
  #isLoading = false;
  #bytes = 0;
  #deltas: { readonly first: number; next: number; bytes: number; baseBytes: number } = {
    first: 0,
    next: 0,
    bytes: 0,
    baseBytes: 0,
  };

  constructor(
    readonly schema: Schema,
    /** `null`: all columns, and rows can be there several times. */
    readonly key: readonly number[] | null,
  ) {}

  get size(): number {
    return this.#rows.size;
  }

  get memoryBytes(): number {
    return this.#bytes;
  }

  /** Takes the upserts of a table: what changes, as rows that are taken back and rows that are added. */
  upsert(batch: Batch): Batch {
    const before = new Map<string, Entry | null>();
    for (let row = 0; row < batch.rows; row++) {
      const cells = batch.row(row);
      const key = this.#keyOf(cells);
      const old = this.#rows.get(key) ?? null;
      if (!before.has(key)) before.set(key, old);
      this.#set(key, { cells, count: 1 }, old);
    }
    const changes = Batch.empty(this.schema, 2 * before.size, true);
    for (const [key, old] of before) {
      const now = this.#rows.get(key);
      if (now === undefined || (old !== null && cellsText(old.cells) === cellsText(now.cells))) continue;
      if (old !== null) changes.append(old.cells, -1);
      changes.append(now.cells, 1);
    }
    return changes;
  }

  /** Takes the results of one round of a query. */
  take(batches: readonly Batch[]): void {
    if (batches.every(isAdded)) {
      for (const batch of batches)
        for (let row = 0; row < batch.rows; row++) this.#add(batch.row(row), batch.weight(row));
      return;
    }
    const net = new Map<string, { readonly cells: readonly Cell[]; weight: number }>();
    for (const batch of batches)
      for (let row = 0; row < batch.rows; row++) {
        const cells = batch.row(row);
        const text = cellsText(cells);
        const known = net.get(text);
        if (known === undefined) net.set(text, { cells, weight: batch.weight(row) });
        else known.weight += batch.weight(row);
      }
    const changes = [...net.values()];
    for (const { cells, weight } of changes) if (weight < 0) this.#add(cells, weight);
    for (const { cells, weight } of changes) if (weight > 0) this.#add(cells, weight);
  }

  #add(cells: readonly Cell[], weight: number): void {
    const key = this.#keyOf(cells);
    const old = this.#rows.get(key) ?? null;
    const count = (old?.count ?? 0) + weight;
    this.#set(key, count > 0 ? { cells, count: this.key === null ? count : 1 } : null, old);
  }

  get(key: readonly Cell[]): readonly Cell[] | null {
    return this.#rows.get(cellsText(key))?.cells ?? null;
  }

  /** The rows in the order of their keys, from one key to another, both included. A shorter bound is a prefix. */
  range(from: readonly Cell[] | null, to: readonly Cell[] | null, rowsMax: number): (readonly Cell[])[] {
    const key = this.key ?? this.schema.map((_, i) => i);
    // One key: all rows need not be put in order for that.
    if (
      this.key !== null &&
      from?.length === key.length &&
      to !== null &&
      cellsText(from) === cellsText(to)
    ) {
      const cells = this.get(from);
      return cells === null || rowsMax < 1 ? [] : [cells];
    }
    const sorted = this.#inOrder(key);
    const found: (readonly Cell[])[] = [];
    for (let i = from === null ? 0 : lowerBound(sorted, key, from); i < sorted.length; i++) {
      const { cells, count } = sorted[i] as Entry;
      if (found.length >= rowsMax || (to !== null && comparePrefix(cells, key, to) > 0)) break;
      for (let n = 0; n < count && found.length < rowsMax; n++) found.push(cells);
    }
    return found;
  }

  /** All rows as one batch, in the order of their keys: the order of the map is not the same after a checkpoint was loaded. */
  batch(): Batch {
    const batch = Batch.empty(this.schema, this.#rows.size);
    for (const { cells, count } of this.#inOrder(this.key ?? this.schema.map((_, i) => i)))
      for (let n = 0; n < count; n++) batch.append(cells);
    return batch;
  }

  /** All rows in batches of bounded size, in no particular order. */
  *batches(rowsMax: number): Generator<Batch> {
    let batch = Batch.empty(this.schema, Math.min(rowsMax, this.#rows.size));
    for (const { cells, count } of this.#rows.values())
      for (let n = 0; n < count; n++) {
        batch.append(cells);
        if (batch.rows < rowsMax) continue;
        yield batch;
        batch = Batch.empty(this.schema, rowsMax);
      }
    if (batch.rows > 0) yield batch;
  }

  #inOrder(key: readonly number[]): readonly Entry[] {
    this.#sorted ??= [...this.#rows.values()].sort((a, b) => compareBy(a.cells, b.cells, key));
    return this.#sorted;
  }

  #keyOf(cells: readonly Cell[]): string {
    return cellsText(this.key === null ? cells : this.key.map((i) => cells[i] ?? null));
  }

  #set(key: string, entry: Entry | null, old: Entry | null): void {
    if (!this.#isLoading && !this.#changed.has(key)) this.#changed.set(key, old);
    this.#sorted = null;
    if (old !== null) this.#bytes -= bytesOf(key, old);
    if (entry === null) this.#rows.delete(key);
    else {
      this.#rows.set(key, entry);
      this.#bytes += bytesOf(key, entry);
    }
  }

  *checkpoint(): Generator<CheckpointPart> {
    if (this.#changed.size === 0) return;
    const delta = Batch.empty(this.schema, this.#changed.size, true);
    for (const [key, old] of this.#changed) {
      if (old !== null) delta.append(old.cells, -old.count);
      const now = this.#rows.get(key);
      if (now !== undefined) delta.append(now.cells, now.count);
    }
    this.#changed = new Map();
    const bytes = encodeBatch(delta);
    const { first, next, bytes: before, baseBytes } = this.#deltas;
    if (next > first && before + bytes.length > baseBytes) {
      for (let i = first; i < next; i++) yield [`${PREFIX}${i}`, null];
      const whole = encodeBatch(this.#weighted());
      this.#deltas = { first: next, next: next + 1, bytes: 0, baseBytes: whole.length };
      yield [`${PREFIX}${next}`, whole];
    } else {
      this.#deltas = { first, next: next + 1, bytes: before + bytes.length, baseBytes };
      yield [`${PREFIX}${next}`, bytes];
    }
  }

  #weighted(): Batch {
    const batch = Batch.empty(this.schema, this.#rows.size, true);
    for (const { cells, count } of this.#rows.values()) batch.append(cells, count);
    return batch;
  }

  load(parts: OwnParts): void {
    const deltas = partsBelow(parts, PREFIX).map(([name, bytes]) => ({ at: Number(name), bytes }));
    deltas.sort((a, b) => a.at - b.at);
    this.#isLoading = true;
    for (const { bytes } of deltas) {
      const batch = decodeBatch(Buffer.from(bytes), this.schema, Number.POSITIVE_INFINITY);
      for (let row = 0; row < batch.rows; row++) this.#add(batch.row(row), batch.weight(row));
    }
    const first = deltas[0]?.at ?? 0;
    const total = deltas.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const baseBytes = deltas[0]?.bytes.length ?? 0;
    this.#deltas = { first, next: first + deltas.length, bytes: total - baseBytes, baseBytes };
    this.#isLoading = false;
  }
}

/** Nothing in it is taken back. */
function isAdded({ weights, rows }: Batch): boolean {
  if (weights === null) return true;
  for (let row = 0; row < rows; row++) if ((weights[row] as number) < 0) return false;
  return true;
}

function bytesOf(key: string, { cells }: Entry): number {
  return ENTRY_BYTES + 4 * key.length + CELL_BYTES * cells.length;
}

function compareBy(a: readonly Cell[], b: readonly Cell[], key: readonly number[]): number {
  for (const i of key) {
    const difference = compareCells(a[i] ?? null, b[i] ?? null);
    if (difference !== 0) return difference;
  }
  return 0;
}

function comparePrefix(cells: readonly Cell[], key: readonly number[], bound: readonly Cell[]): number {
  for (const [i, cell] of bound.entries()) {
    const difference = compareCells(cells[key[i] ?? 0] ?? null, cell);
    if (difference !== 0) return difference;
  }
  return 0;
}

function lowerBound(sorted: readonly Entry[], key: readonly number[], bound: readonly Cell[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comparePrefix((sorted[middle] as Entry).cells, key, bound) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
