import { type ColumnSpec, column, type Schema } from "../columns/index.js";
import type { Aggregate, Expression, Type } from "../plan/index.js";
import type { Code, Value } from "./code.js";

/**
 * What a group keeps, as columns of its table: the key, then for each aggregate what it needs to go on.
 *
 * - count keeps a count. Sums and averages keep the count of values, which tells NULL from 0, and their sum: of integers
 *   whose result is exact as a decimal, in a double as long as it fits.
 * - min, max, bool_and and bool_or keep their value, NULL before the first.
 *
 * All of them can be merged, so windows that overlap can share what they have in common.
 */
export interface StateColumns {
  readonly schema: Schema;
  readonly keyCount: number;
  /** The first state column of each aggregate. */
  readonly places: readonly number[];
}

export function stateColumns(keys: readonly Expression[], aggregates: readonly Aggregate[]): StateColumns {
  const schema: ColumnSpec[] = keys.map((key, i) => specOf(`key${i}`, key));
  const places = aggregates.map((aggregate) => {
    const place = schema.length;
    schema.push(...ownColumns(aggregate));
    return place;
  });
  return { schema, keyCount: keys.length, places };
}

export function specOf(name: string, { type, nullable, scale }: Type): ColumnSpec {
  return column(name, type === "interval" ? "float" : type, nullable, scale);
}

function ownColumns(aggregate: Aggregate): ColumnSpec[] {
  switch (aggregate.name) {
    case "count":
      return [column("count", "int", false)];
    case "sum":
    case "avg":
      return [column("count", "int", false), specOf("sum", sumType(aggregate))];
    default:
      return [specOf("value", { ...aggregate, nullable: true })];
  }
}

/** In which type values are added up. */
export function sumType({ type, scale, name, operand }: Aggregate): Type {
  const given = operand ?? { type: "int", scale: 0 };
  if (type !== "numeric") return { type, scale: 0, nullable: false };
  return { type: "numeric", scale: name === "avg" ? given.scale : scale, nullable: false };
}

/** The row that a group stands for: its keys, then the values of its aggregates. */
export function groupRow(
  code: Code,
  aggregates: readonly Aggregate[],
  { keyCount, places }: StateColumns,
  state: readonly Value[],
): Value[] {
  const at = (index: number) => state[index] ?? { v: "0", n: "true" };
  const results = aggregates.map((aggregate, i): Value => {
    const first = at(places[i] ?? 0);
    if (aggregate.name !== "sum" && aggregate.name !== "avg")
      return aggregate.nullable ? first : { ...first, n: null };
    const sum = at((places[i] ?? 0) + 1).v;
    const n = aggregate.nullable ? `(${first.v} === 0)` : null;
    return { v: aggregate.name === "sum" ? sum : average(code, aggregate, sum, first.v), n };
  });
  return [...state.slice(0, keyCount), ...results];
}

function average(code: Code, aggregate: Aggregate, sum: string, count: string): string {
  if (aggregate.type !== "numeric") return `(${sum} / ${count})`;
  const by = aggregate.scale - sumType(aggregate).scale;
  // The average of no values is NULL, and nothing is divided for it.
  return `(${count} === 0 ? 0 : ${code.call("divideNumeric", [code.call("rescale", [sum, String(by)]), count])})`;
}
