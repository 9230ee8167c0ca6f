import { Batch } from "./batch.js";
import type { Column, TextColumn } from "./column.js";
import { Texts } from "./texts.js";

/** The same rows, with texts of their own where they have those of a table, which forgets texts when its rows are deleted. */
export function detached(batch: Batch): Batch {
  const isAttached = (column: Column) => column.storage === "text" && column.texts.isForgetful;
  if (!batch.columns.some(isAttached)) return batch;
  const columns = batch.columns.map((column) =>
    column.storage === "text" && column.texts.isForgetful ? copied(column, batch.rows) : column,
  );
  const copy = new Batch(batch.schema, columns, batch.weights);
  copy.rows = batch.rows;
  return copy;
}

function copied({ codes, texts, nulls }: TextColumn, rows: number): TextColumn {
  const own = new Texts();
  const places = new Map<number, number>();
  const moved = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    if (nulls !== null && nulls[i] === 1) continue;
    const code = codes[i] as number;
    const place = places.get(code) ?? own.add(texts.get(code));
    places.set(code, place);
    moved[i] = place;
  }
  return { storage: "text", codes: moved, texts: own, nulls: nulls?.slice(0, rows) ?? null };
}
