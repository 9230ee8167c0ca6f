import { Batch } from "./batch.js";
import { type Column, emptyColumn, type NumericColumn, setNumeric } from "./column.js";
import type { Schema } from "./schema.js";
import { Texts } from "./texts.js";

/** Appends the rows of one batch to another of the same schema, column by column. */
export function appendRows(target: Batch, source: Batch): void {
  target.reserve(source.rows);
  const at = target.rows;
  for (const [i, to] of target.columns.entries()) {
    const from = source.columns[i];
    if (from !== undefined) copy(to, from, at, source.rows);
  }
  target.rows += source.rows;
}

/** Where the texts of small batches are numbered anew. */
const KNOWN = new Int32Array(1024);
/** Fewer values are copied one by one: that costs less than a view of them. */
const FEW_ROWS = 16;

function copy(to: Column, from: Column, at: number, rows: number): void {
  if (to.nulls !== null && from.nulls !== null) copyValues(to.nulls, from.nulls, at, rows);
  if (to.storage === "text" && from.storage === "text") {
    const { size } = from.texts;
    const known = size <= KNOWN.length ? KNOWN.fill(-1, 0, size) : new Int32Array(size).fill(-1);
    for (let i = 0; i < rows; i++) {
      if (from.nulls !== null && from.nulls[i] === 1) continue;
      const code = from.codes[i] as number;
      if (known[code] === -1) known[code] = to.texts.add(from.texts.get(code));
      to.codes[at + i] = known[code] as number;
    }
  } else if (to.storage === "numeric" && from.storage === "numeric")
    for (let i = 0; i < rows; i++) setNumeric(to, at + i, scaledAt(from, i));
  else if (to.storage === "number" && from.storage === "number") copyValues(to.values, from.values, at, rows);
  else if (to.storage === "bool" && from.storage === "bool") copyValues(to.values, from.values, at, rows);
}

function copyValues<A extends Float64Array | Uint8Array>(to: A, from: A, at: number, rows: number): void {
  if (rows < FEW_ROWS) for (let i = 0; i < rows; i++) to[at + i] = from[i] as number;
  else to.set(from.subarray(0, rows), at);
}

function scaledAt({ values, bigs }: NumericColumn, row: number) {
  return bigs.get(row) ?? (values[row] as number);
}

/** Some rows of a batch, in the order of their numbers in `rows`, with room for columns behind them. Texts are shared. */
export function gathered(source: Batch, rows: Int32Array, schema: Schema): Batch {
  const columns = schema.map((spec, i): Column => {
    const from = source.columns[i];
    const column = emptyColumn(spec, rows.length, from?.storage === "text" ? from.texts : undefined);
    if (from !== undefined) pick(column, from, rows);
    return column;
  });
  const batch = new Batch(schema, columns, null);
  batch.rows = rows.length;
  return batch;
}

function pick(to: Column, from: Column, rows: Int32Array): void {
  if (to.nulls !== null && from.nulls !== null)
    for (let i = 0; i < rows.length; i++) to.nulls[i] = from.nulls[rows[i] as number] as number;
  if (to.storage === "numeric" && from.storage === "numeric")
    for (let i = 0; i < rows.length; i++) setNumeric(to, i, scaledAt(from, rows[i] as number));
  else {
    const [target, source] = [
      to.storage === "text" ? to.codes : to.values,
      from.storage === "text" ? from.codes : from.values,
    ];
    for (let i = 0; i < rows.length; i++) target[i] = source[rows[i] as number] as number;
  }
}

/** The same rows with texts of their own, where theirs are those of a table that forgets texts which no row of it has. */
export function lasting(batch: Batch): Batch {
  if (batch.columns.every((column) => column.storage !== "text" || column.texts.isLasting)) return batch;
  const columns = batch.columns.map((column): Column => {
    if (column.storage !== "text" || column.texts.isLasting) return column;
    const own: Column = { ...column, codes: new Int32Array(batch.rows), texts: new Texts() };
    copy(own, column, 0, batch.rows);
    return own;
  });
  const made = new Batch(batch.schema, columns, batch.weights);
  made.rows = batch.rows;
  return made;
}

/**
 * Pairs of rows, one of each batch: a row of `old` with the weight -1, and behind it the row of `now` with the weight +1. -1
 * stands for no row. Both batches have one schema and share their texts.
 */
export function interleaved(old: Batch, olds: Int32Array, now: Batch, nows: Int32Array): Batch {
  // By row of the result: the row of `now`, or the row of `old` as its complement.
  const sources = new Int32Array(2 * olds.length);
  let rows = 0;
  for (let i = 0; i < olds.length; i++) {
    if ((olds[i] as number) >= 0) sources[rows++] = ~(olds[i] as number);
    if ((nows[i] as number) >= 0) sources[rows++] = nows[i] as number;
  }
  const weights = new Int32Array(rows);
  for (let i = 0; i < rows; i++) weights[i] = (sources[i] as number) < 0 ? -1 : 1;
  const columns = now.schema.map((spec, i): Column => {
    const [before, after] = [old.columns[i], now.columns[i]];
    const column = emptyColumn(spec, rows, after?.storage === "text" ? after.texts : undefined);
    if (before !== undefined && after !== undefined) mix(column, before, after, sources, rows);
    return column;
  });
  const batch = new Batch(now.schema, columns, weights);
  batch.rows = rows;
  return batch;
}

function mix(to: Column, old: Column, now: Column, sources: Int32Array, rows: number): void {
  if (to.nulls !== null && old.nulls !== null && now.nulls !== null)
    mixArrays(to.nulls, old.nulls, now.nulls, sources, rows);
  if (to.storage === "numeric" && old.storage === "numeric" && now.storage === "numeric") {
    for (let i = 0; i < rows; i++) {
      const source = sources[i] as number;
      setNumeric(to, i, source < 0 ? scaledAt(old, ~source) : scaledAt(now, source));
    }
  } else mixArrays(arrayOf(to), arrayOf(old), arrayOf(now), sources, rows);
}

function mixArrays(to: Values, old: Values, now: Values, sources: Int32Array, rows: number): void {
  for (let i = 0; i < rows; i++) {
    const source = sources[i] as number;
    to[i] = (source < 0 ? old[~source] : now[source]) as number;
  }
}

type Values = Float64Array | Int32Array | Uint8Array;

function arrayOf(column: Column): Values {
  return column.storage === "text" ? column.codes : column.values;
}
