import { type Batch, gathered } from "../columns/index.js";
import type { Operator } from "./operator.js";

/**
 * Behind an operator that takes nothing back: its rows come without weights, each as often as its weight says. Operators that
 * follow append-only rows look at no weights.
 */
export function unweighted(next: Operator): Operator {
  return {
    push: (batch) => next.push(batch.weights === null ? batch : expanded(batch)),
    flush: () => next.flush(),
    watermark: (timeMs) => next.watermark(timeMs),
    end: () => next.end(),
  };
}

function expanded(batch: Batch): Batch {
  const rows: number[] = [];
  for (let row = 0; row < batch.rows; row++)
    for (let left = batch.weight(row); left > 0; left--) rows.push(row);
  return gathered(batch, Int32Array.from(rows), batch.schema);
}
