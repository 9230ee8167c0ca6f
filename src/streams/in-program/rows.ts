import { HeadwaterError } from "../../errors.js";
import {
  type Batch,
  type Cell,
  type ColumnSpec,
  decodeBatch,
  numericText,
  type Scaled,
  type Schema,
} from "../columns/index.js";
import { cellsOfJson } from "../door/index.js";
import type { Channel } from "../graph/index.js";
import { OPEN_SCALE } from "../sql/index.js";

/** A row of results by its number. `weight` is -1 for a row that is taken back, because it was replaced or deleted. */
export interface RowChange<R> {
  readonly number: number;
  readonly weight: number;
  readonly row: R;
}

type AnyRow = Readonly<Record<string, unknown>>;

/** The cells of a row as it is pushed. Refused if it does not fit. */
export function cellsOf(name: string, schema: Schema, row: unknown, index: number): readonly Cell[] {
  const cells = cellsOfJson(row, schema);
  if (typeof cells === "string") throw misfit(name, index, cells);
  for (const column in row as AnyRow)
    if (!hasColumn(schema, column))
      throw misfit(name, index, `there is no column ${JSON.stringify(column.slice(0, 80))}.`);
  return cells;
}

function hasColumn(schema: Schema, name: string): boolean {
  for (const spec of schema) if (spec.name === name) return true;
  return false;
}

function misfit(name: string, index: number, why: string): HeadwaterError {
  return new HeadwaterError("HW-5302", `row ${index + 1} does not fit "${name}": ${why} Nothing was pushed.`);
}

/** The first cells of a key, from values. */
export function boundOf(
  name: string,
  key: Schema,
  values: readonly unknown[] | undefined,
): readonly Cell[] | null {
  if (values === undefined) return null;
  const columns = key.slice(0, values.length);
  const cells = cellsOfJson(
    Object.fromEntries(columns.map((spec, i) => [spec.name, values[i]])),
    columns.map((spec) => ({ ...spec, nullable: true })),
  );
  if (typeof cells !== "string" && values.length <= key.length) return cells;
  throw new HeadwaterError(
    "HW-5410",
    `"${name}" is read by (${key.map((spec) => spec.name).join(", ")})` +
      `${typeof cells === "string" ? `: ${cells}` : `, and ${values.length} values were given.`}`,
  );
}

export function rowOf(schema: Schema, cells: readonly Cell[]): AnyRow {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < schema.length; i++) {
    const spec = schema[i] as ColumnSpec;
    row[spec.name] = plainValue(cells[i] ?? null, spec);
  }
  return row;
}

function plainValue(cell: Cell, { type, scale }: ColumnSpec): unknown {
  if (cell === null) return null;
  if (type === "json") return JSON.parse(String(cell)) as unknown;
  if (type !== "numeric") return cell;
  const text = numericText(cell as Scaled, scale);
  // So many digits were not written by anybody: they are room for quotients.
  return scale >= OPEN_SCALE ? text.replace(/\.?0+$/, "") : text;
}

export function changesOf(schema: Schema, batches: readonly Batch[], first: number): RowChange<AnyRow>[] {
  const changes: RowChange<AnyRow>[] = [];
  for (const batch of batches)
    for (let i = 0; i < batch.rows; i++)
      changes.push({
        number: first + changes.length,
        weight: batch.weight(i),
        row: rowOf(schema, batch.row(i)),
      });
  return changes;
}

/** The rows of a log from a number on, as many as one answer takes. */
export function pageOf({ log, schema }: Channel, from: number, bytesMax: number): RowChange<AnyRow>[] {
  return log.read(from, bytesMax).flatMap(({ first, bytes }) => {
    const batch = decodeBatch(Buffer.from(bytes), schema, Number.POSITIVE_INFINITY);
    return changesOf(schema, [batch], first).filter(({ number }) => number >= from);
  });
}
