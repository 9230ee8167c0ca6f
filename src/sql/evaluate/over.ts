import type { Scalar } from "../ast.js";
import type { OverCall, PlanExpression, SortExpression } from "../plan.js";
import type { SqlType } from "../types.js";
import { compareValues, rowKey } from "../values/compare.js";
import { addNumeric } from "../values/numeric.js";
import { toMicros } from "../values/time.js";
import { aggregated, sorts, type ValueIn } from "./aggregate.js";
import type { Row } from "./expression.js";
import { inOrder } from "./sort.js";

/** The rows with what each function with OVER makes of them. */
export function overRows(functions: readonly OverCall[], rows: readonly Row[], value: ValueIn): Row[] {
  const columns = functions.map((each) => overColumn(each, rows, value));
  return rows.map((row, i) => [...row, ...columns.map((column) => column[i] ?? null)]);
}

type Known = Exclude<Scalar, null>;

/** A row in its partition: its place among the given rows, and the values that it is sorted by. */
interface Placed {
  readonly row: Row;
  readonly at: number;
  readonly keys: Row;
}

function overColumn(over: OverCall, rows: readonly Row[], value: ValueIn): Scalar[] {
  const partitions = new Map<string, Placed[]>();
  for (const [at, row] of rows.entries()) {
    const name = rowKey(
      over.partition.map((each) => value(row, each)),
      over.partition,
    );
    const keys = over.order.map(({ expression }) => value(row, expression));
    partitions.set(name, [...(partitions.get(name) ?? []), { row, at, keys }]);
  }
  const order = sorts(over.order);
  const result: Scalar[] = rows.map(() => null);
  for (const members of partitions.values()) {
    const whole = ({ row }: Placed) => JSON.stringify(row);
    const sorted = members.toSorted(
      (a, b) => inOrder(order, a.keys, b.keys) || (whole(a) < whole(b) ? -1 : whole(a) > whole(b) ? 1 : 0),
    );
    const peers = (a: Placed, b: Placed) => inOrder(order, a.keys, b.keys) === 0;
    for (const [i, { at }] of sorted.entries()) result[at] = valueAt(over, sorted, i, peers, value);
  }
  return result;
}

function valueAt(
  over: OverCall,
  sorted: readonly Placed[],
  i: number,
  peers: (a: Placed, b: Placed) => boolean,
  value: ValueIn,
): Scalar {
  const own = sorted[i];
  if (own === undefined) return null;
  const { function: what } = over;
  switch (what.kind) {
    case "rank":
      return rank(what.name, sorted, i, peers);
    case "share": {
      const all = sorted.length;
      if (what.name === "percent_rank")
        return all === 1 ? 0 : (rank("rank", sorted, i, peers) - 1) / (all - 1);
      if (what.name === "cume_dist")
        return sorted.filter((each, j) => j <= i || peers(each, own)).length / all;
      // Buckets are filled in turn, and rows stand in them in their order.
      const sizes = Array.from({ length: what.buckets }, (_, nth) => Math.ceil((all - nth) / what.buckets));
      let before = 0;
      return (
        sizes.findIndex((size) => {
          before += Math.max(0, size);
          return i < before;
        }) + 1
      );
    }
    case "neighbour": {
      const other = sorted[what.name === "lag" ? i - what.offset : i + what.offset];
      if (other !== undefined) return value(other.row, what.operand);
      return what.otherwise === null ? null : value(own.row, what.otherwise);
    }
    case "edge": {
      const frame = frameOf(over, sorted, i, peers);
      const edge = what.name === "first_value" ? frame[0] : frame.at(-1);
      return edge === undefined ? null : value(edge.row, what.operand);
    }
    case "nth": {
      const row = frameOf(over, sorted, i, peers)[what.nth - 1];
      return row === undefined ? null : value(row.row, what.operand);
    }
    case "aggregate": {
      const rows = frameOf(over, sorted, i, peers).map(({ row }) => row);
      return aggregated(what.aggregate, rows, (row: Row, each: PlanExpression) => value(row, each));
    }
  }
}

function rank(
  name: "row_number" | "rank" | "dense_rank",
  sorted: readonly Placed[],
  i: number,
  peers: (a: Placed, b: Placed) => boolean,
): number {
  if (name === "row_number") return i + 1;
  const own = sorted[i];
  const first = sorted.findIndex((each) => own !== undefined && peers(each, own));
  if (name === "rank") return first + 1;
  const starts = sorted.slice(0, first + 1).filter((each, at) => {
    const before = sorted[at - 1];
    return before === undefined || !peers(before, each);
  });
  return starts.length;
}

/** The rows of the partition that count for one of them. */
function frameOf(
  { frame: { unit, start, end }, order }: OverCall,
  sorted: readonly Placed[],
  i: number,
  peers: (a: Placed, b: Placed) => boolean,
): readonly Placed[] {
  const own = sorted[i];
  if (own === undefined) return [];
  if (unit === "rows") {
    const from = start === null ? 0 : Math.max(0, i + start);
    return sorted.slice(from, end === null ? undefined : Math.max(from, i + end + 1));
  }
  if (unit === "groups") {
    const place = (each: Placed) => rank("dense_rank", sorted, sorted.indexOf(each), peers);
    const distance = (each: Placed) => place(each) - place(own);
    return sorted.filter(
      (each) => (start === null || distance(each) >= start) && (end === null || distance(each) <= end),
    );
  }
  const [key] = order;
  if (key !== undefined && ((start ?? 0) !== 0 || (end ?? 0) !== 0))
    return nearBy(own, { start, end }, key, sorted, peers);
  const from = start === null ? 0 : sorted.findIndex((each) => peers(each, own));
  const to = end === null ? sorted.length - 1 : sorted.findLastIndex((each) => peers(each, own));
  return sorted.slice(from, to + 1);
}

/** The rows whose value in the order is between that of a row moved by one distance and by the other. */
function nearBy(
  own: Placed,
  { start, end }: { readonly start: number | null; readonly end: number | null },
  { expression: { type }, descending, nullsFirst }: SortExpression,
  sorted: readonly Placed[],
  peers: (a: Placed, b: Placed) => boolean,
): readonly Placed[] {
  const value = own.keys[0] ?? null;
  const isIn = (each: Placed, distance: number, isBefore: boolean): boolean => {
    const other = each.keys[0] ?? null;
    if (value === null) return peers(each, own) || (other !== null && isBefore === nullsFirst);
    if (other === null) return isBefore !== nullsFirst;
    const order = compareValues(other, moved(value, descending ? -distance : distance, type), type);
    return (descending ? -order : order) * (isBefore ? 1 : -1) >= 0;
  };
  return sorted.filter(
    (each) => (start === null || isIn(each, start, true)) && (end === null || isIn(each, end, false)),
  );
}

function moved(value: Known, distance: number, type: SqlType): Known {
  if (type === "numeric") return addNumeric(String(value), String(distance));
  const sum = Number(value) + distance;
  return ["date", "timestamp", "timestamptz"].includes(type) ? toMicros(sum) : sum;
}
