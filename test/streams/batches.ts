import {
  Batch,
  type Cell,
  type ColumnSpec,
  type ColumnType,
  column,
  narrowed,
  type Schema,
} from "#src/streams/columns/index.js";
import fc from "../properties.js";

/** Random schemas and batches: every type, with NULLs and without, few and many rows, and values at their limits. */
const TYPES: readonly ColumnType[] = ["int", "float", "bool", "text", "timestamp", "numeric", "json"];

export const spec: fc.Arbitrary<ColumnSpec> = fc
  .tuple(fc.string({ maxLength: 8 }), fc.constantFrom(...TYPES), fc.boolean(), fc.nat({ max: 6 }))
  .map(([name, type, nullable, scale]) => column(name, type, nullable, type === "numeric" ? scale : 0));

const wide = fc.string({ unit: "grapheme", maxLength: 40 });

const integer = fc.oneof(fc.integer({ min: -3, max: 300 }), fc.maxSafeInteger());

/** A batch holds no unpaired surrogates: the door refuses them. */
export const CELLS: Readonly<Record<ColumnType, fc.Arbitrary<Cell>>> = {
  int: integer.map((value) => value + 0),
  float: fc.oneof(fc.double(), integer, fc.constant(-0)),
  bool: fc.boolean(),
  text: fc.oneof(fc.constantFrom("", "a", "b", "\u0000", "😀"), wide),
  timestamp: fc.oneof(
    fc.integer({ min: -1e12, max: 2e12 }),
    fc.double({ min: -1e12, max: 2e12, noNaN: true }),
  ),
  numeric: fc.oneof(
    integer.map((value) => value + 0),
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(narrowed),
  ),
  json: fc.json(),
};

export function cellOf({ type, nullable }: ColumnSpec): fc.Arbitrary<Cell> {
  const cell = CELLS[type];
  return nullable ? fc.option(cell, { freq: 4 }) : cell;
}

export function rowsOf(schema: Schema, maxLength = 40): fc.Arbitrary<Cell[][]> {
  return fc.array(fc.tuple(...schema.map(cellOf)), { maxLength });
}

export const batch: fc.Arbitrary<Batch> = fc
  .array(spec, { maxLength: 6 })
  .chain((schema) => fc.tuple(fc.constant(schema), rowsOf(schema), fc.boolean()))
  .chain(([schema, rows, weighted]) => {
    const weight = fc.integer({ min: -3, max: 3 });
    const weights = fc.array(weight, { minLength: rows.length, maxLength: rows.length });
    return fc.tuple(fc.constant(schema), fc.constant(rows), weighted ? weights : fc.constant(undefined));
  })
  .map(([schema, rows, weights]) => Batch.of(schema, rows, weights));

/** What a batch says, for comparing. */
export function contents(of: Batch): { rows: Cell[][]; weights: number[] | null } {
  const numbers = Array.from({ length: of.rows }, (_, i) => i);
  return {
    rows: numbers.map((i) => of.row(i)),
    weights: of.weights === null ? null : numbers.map((i) => of.weight(i)),
  };
}
