import type { NumberColumn } from "../columns/index.js";
import type { Expiry } from "../plan/index.js";
import type { Bag, WeightedRows } from "../tables/index.js";

/** Whether nothing can meet a row any more, at a watermark. A row without a time meets nothing at all. */
function expiredAt(
  { columns }: Bag | WeightedRows,
  expiry: Expiry,
  watermark: number,
): (row: number) => boolean {
  const bounds = expiry.map((bound) => ({ ...bound, column: columns[bound.index] as NumberColumn }));
  return (row) =>
    bounds.every(({ column: { values, nulls }, delayMs, isStrict }, i) => {
      if (nulls !== null && nulls[row] === 1) return i === 0;
      const end = (values[row] as number) + delayMs;
      return end < watermark || (isStrict && end === watermark);
    });
}

export function liveRows(bag: Bag, expiry: Expiry, watermark: number): Int32Array {
  const isExpired = expiredAt(bag, expiry, watermark);
  const live = new Int32Array(bag.rows);
  let count = 0;
  for (let row = 0; row < bag.rows; row++) if (!isExpired(row)) live[count++] = row;
  return live.subarray(0, count);
}

export function expiredRows(rows: WeightedRows, expiry: Expiry, watermark: number): number[] {
  const isExpired = expiredAt(rows, expiry, watermark);
  const found: number[] = [];
  for (let row = 0; row < rows.rows; row++) if (rows.table.isLive(row) && isExpired(row)) found.push(row);
  return found;
}
