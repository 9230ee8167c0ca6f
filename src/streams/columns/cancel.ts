import type { Batch } from "./batch.js";
import type { Column } from "./column.js";
import { gathered } from "./gather.js";

/** A batch without pairs of neighbours that are equal and whose weights add up to nothing. */
export function cancelled(batch: Batch): Batch {
  const { weights, rows } = batch;
  if (weights === null) return batch;
  const kept = new Int32Array(rows);
  let count = 0;
  for (let i = 0; i < rows; i++) {
    const isPair = i + 1 < rows && (weights[i] as number) + (weights[i + 1] as number) === 0;
    if (isPair && batch.columns.every((column) => isSame(column, i, i + 1))) i++;
    else kept[count++] = i;
  }
  if (count === rows) return batch;
  const numbers = kept.subarray(0, count);
  const made = gathered(batch, numbers, batch.schema);
  made.weights = Int32Array.from(numbers, (row) => weights[row] as number);
  return made;
}

function isSame(column: Column, a: number, b: number): boolean {
  const { nulls } = column;
  if (nulls !== null && (nulls[a] === 1 || nulls[b] === 1)) return nulls[a] === nulls[b];
  if (column.storage === "text") {
    const { codes, texts } = column;
    return codes[a] === codes[b] || texts.get(codes[a] as number) === texts.get(codes[b] as number);
  }
  const [x, y] = [column.values[a] as number, column.values[b] as number];
  if (column.storage === "numeric")
    return x === y || (Number.isNaN(x) && Number.isNaN(y) && column.bigs.get(a) === column.bigs.get(b));
  return Object.is(x, y);
}
