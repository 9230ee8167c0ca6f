import { userAggregate } from "../../sql/index.js";
import { type ColumnSpec, column, type Schema } from "../columns/index.js";
import type { Aggregate, Expression, Type } from "../plan/index.js";
import { blank } from "./blank.js";
import type { CodeBuilder, Value } from "./code.js";

/**
 * What a group keeps, as columns of its table: the key, where rows can be taken back their number, then for each aggregate
 * what it needs to go on.
 *
 * - count keeps a count. Sums and averages keep the count of values, which tells NULL from 0, and their sum: of integers
 *   whose result is exact as a decimal, in a double as long as it fits.
 * - min, max, bool_and and bool_or keep their value, NULL before the first.
 * - string_agg and array_agg keep their value too, which is made at the end of a round from all values of the group
 *   (`GroupValues`).
 *
 * Where rows can be taken back, counts and sums subtract. Sums of integers are decimals then, since one that leaves the range
 * must find back; sums of doubles count infinities and NaN apart. bool_and and bool_or count both truth values. min and
 * max keep all values of the group, and the first of them is their value at the end of a round.
 */
export interface StateColumns {
  readonly schema: Schema;
  readonly keyCount: number;
  /** The column with the number of a group's rows, if rows can be taken back. */
  readonly rows: number | null;
  /** The first state column of each aggregate. */
  readonly places: readonly number[];
  readonly retracts: boolean;
}

export function stateColumns(
  keys: readonly Expression[],
  aggregates: readonly Aggregate[],
  retracts = false,
): StateColumns {
  const schema: ColumnSpec[] = keys.map((key, i) => specOf(`key${i}`, key));
  const rows = retracts ? schema.push(column("rows", "int", false)) - 1 : null;
  const places = aggregates.map((aggregate) => {
    const place = schema.length;
    schema.push(...ownColumns(aggregate, retracts));
    return place;
  });
  return { schema, keyCount: keys.length, rows, places, retracts };
}

export function specOf(name: string, { type, nullable, scale }: Type): ColumnSpec {
  return column(name, type === "interval" ? "float" : type, nullable, scale);
}

function ownColumns(aggregate: Aggregate, retracts: boolean): ColumnSpec[] {
  const count = (name: string) => column(name, "int", false);
  switch (aggregate.name) {
    case "count":
      return [count("count")];
    case "sum":
    case "avg": {
      const sum = sumType(aggregate, retracts);
      const apart = retracts && sum.type === "float" ? ["nan", "infinity", "negative infinity"] : [];
      return [count("count"), specOf("sum", sum), ...apart.map(count)];
    }
    case "bool_and":
    case "bool_or":
      if (retracts) return [count("true"), count("false")];
      break;
    case "user":
      return [column("state", "text")];
  }
  return [specOf("value", { ...aggregate, nullable: true })];
}

/** How the values of a group are kept beside its table, if they are. */
export type ValuesKept = "distinct" | "ranked" | "listed" | null;

export function valuesKept({ name, distinct }: Aggregate, retracts: boolean): ValuesKept {
  if (name === "string_agg" || name === "array_agg") return "listed";
  if (name === "min" || name === "max") return retracts ? "ranked" : null;
  return distinct && (name === "count" || name === "sum" || name === "avg") ? "distinct" : null;
}

/** The columns of the values that are kept: the operand, then for lists the keys of their order and the separator. */
export function valueColumns({ operand, list, user }: Aggregate): readonly Expression[] {
  const listed = list === null ? (user?.more ?? []) : [...list.order.map(({ key }) => key), list.separator];
  return [operand, ...listed].filter((each) => each !== null);
}

/** In which type values are added up. */
export function sumType({ type, scale, name, operand }: Aggregate, retracts: boolean): Type {
  const given = operand ?? { type: "int", scale: 0 };
  if (type === "int" && retracts) return { type: "numeric", scale: 0, nullable: false };
  if (type !== "numeric") return { type, scale: 0, nullable: false };
  return { type: "numeric", scale: name === "avg" ? given.scale : scale, nullable: false };
}

/** The row that a group stands for: its keys, then the values of its aggregates. */
export function groupRow(
  code: CodeBuilder,
  aggregates: readonly Aggregate[],
  { keyCount, places, retracts }: StateColumns,
  state: readonly Value[],
): Value[] {
  const at = (index: number) => state[index] ?? { v: "0", n: "true" };
  const results = aggregates.map((aggregate, i): Value => {
    const place = places[i] ?? 0;
    const [first, second] = [at(place), at(place + 1)];
    switch (aggregate.name) {
      case "sum":
      case "avg": {
        const n = aggregate.nullable ? `(${first.v} === 0)` : null;
        const apart = [2, 3, 4].map((offset) => at(place + offset).v);
        return { v: total(code, aggregate, retracts, second.v, first.v, apart), n };
      }
      case "user": {
        const user = code.constant(userAggregate(aggregate.user?.name ?? ""));
        const call = code.call(
          "userResult",
          [user, first.n === null ? first.v : `(${first.n} ? null : ${first.v})`],
          true,
        );
        const value = code.bind(call);
        const n = code.bind(`${value} === null`);
        return { v: code.bind(`${n} ? ${blank(aggregate)} : ${value}`), n: aggregate.nullable ? n : null };
      }
      case "bool_and":
      case "bool_or": {
        if (!retracts) break;
        const n = aggregate.nullable ? `(${first.v} + ${second.v} === 0)` : null;
        return { v: aggregate.name === "bool_or" ? `(${first.v} > 0)` : `(${second.v} === 0)`, n };
      }
    }
    return aggregate.nullable ? first : { ...first, n: null };
  });
  return [...state.slice(0, keyCount), ...results];
}

function total(
  code: CodeBuilder,
  aggregate: Aggregate,
  retracts: boolean,
  sum: string,
  count: string,
  [nan, up, down]: readonly string[],
): string {
  const { type } = sumType(aggregate, retracts);
  const exact =
    type === "float" && retracts
      ? `(${nan} > 0 || (${up} > 0 && ${down} > 0) ? NaN : ${up} > 0 ? Infinity : ${down} > 0 ? -Infinity : ${sum})`
      : sum;
  if (aggregate.name === "avg") return average(code, aggregate, exact, count, retracts);
  return aggregate.type === "int" && type === "numeric" ? code.call("numericToInt", [exact], true) : exact;
}

function average(
  code: CodeBuilder,
  aggregate: Aggregate,
  sum: string,
  count: string,
  retracts: boolean,
): string {
  if (aggregate.type !== "numeric") return `(${sum} / ${count})`;
  const by = aggregate.scale - sumType(aggregate, retracts).scale;
  // The average of no values is NULL, and nothing is divided for it.
  return `(${count} === 0 ? 0 : ${code.call("divideNumeric", [code.call("rescale", [sum, String(by)]), count])})`;
}
