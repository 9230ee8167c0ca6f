import { Batch, type Column, gathered } from "../columns/index.js";

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const OF_NULL = 0x9e3779b9;

/**
 * The rows of a batch for each partition, in their order. Rows that agree in the columns go to one partition, whichever batch they
 * come with; without columns, each partition gets a piece of the batch.
 */
export function divide(
  batch: Batch,
  columns: readonly number[] | null,
  partitions: number,
): readonly Batch[] {
  const places = columns === null ? pieces(batch.rows, partitions) : hashed(batch, columns, partitions);
  const counts = new Int32Array(partitions);
  for (const place of places) counts[place] = (counts[place] as number) + 1;
  const rows = Array.from(counts, (count) => new Int32Array(count));
  const filled = new Int32Array(partitions);
  for (let i = 0; i < places.length; i++) {
    const place = places[i] as number;
    const at = filled[place] as number;
    (rows[place] as Int32Array)[at] = i;
    filled[place] = at + 1;
  }
  return rows.map((own) => picked(batch, own));
}

function picked(batch: Batch, rows: Int32Array): Batch {
  if (rows.length === batch.rows) return batch;
  const part = gathered(batch, rows, batch.schema);
  const { weights } = batch;
  return weights === null
    ? part
    : weighted(
        part,
        rows.map((row) => weights[row] as number),
      );
}

function weighted({ schema, columns, rows }: Batch, weights: Int32Array): Batch {
  const batch = new Batch(schema, columns, weights);
  batch.rows = rows;
  return batch;
}

function pieces(rows: number, partitions: number): Int32Array {
  return Int32Array.from({ length: rows }, (_, i) => Math.floor((i * partitions) / rows));
}

function hashed(batch: Batch, columns: readonly number[], partitions: number): Int32Array {
  const hashes = new Int32Array(batch.rows).fill(FNV_OFFSET);
  for (const index of columns) {
    const column = batch.columns[index];
    if (column === undefined) continue;
    const hash = hashOf(column);
    for (let i = 0; i < batch.rows; i++) {
      const isNull = column.nulls !== null && column.nulls[i] === 1;
      hashes[i] = mixed((hashes[i] as number) ^ (isNull ? OF_NULL : hash(i)));
    }
  }
  return hashes.map((hash) => (hash >>> 0) % partitions);
}

/** The hash of the value in a row. Values that SQL takes for equal have equal hashes: both zeros, all NaNs. */
function hashOf(column: Column): (row: number) => number {
  switch (column.storage) {
    case "bool":
      return (row) => column.values[row] as number;
    case "number":
      return (row) => ofNumber(column.values[row] as number);
    case "numeric":
      return (row) => {
        const big = column.bigs.get(row);
        return big === undefined ? ofNumber(column.values[row] as number) : ofText(String(big));
      };
    case "text": {
      const known = new Map<number, number>();
      return (row) => {
        const code = column.codes[row] as number;
        const hash = known.get(code) ?? ofText(column.texts.get(code));
        known.set(code, hash);
        return hash;
      };
    }
  }
}

const bits = new DataView(new ArrayBuffer(8));

function ofNumber(value: number): number {
  bits.setFloat64(0, Number.isNaN(value) ? Number.NaN : value + 0);
  return mixed(bits.getInt32(0)) ^ bits.getInt32(4);
}

function ofText(text: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash;
}

/** Spreads every bit over all others. */
function mixed(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
