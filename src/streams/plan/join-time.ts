import type { Expression } from "./expression.js";
import { type Plan, retentionStep } from "./physical.js";
import { conjuncts } from "./rewrite.js";
import type { TimeBound, Traits } from "./traits.js";

type Join = Extract<Plan, { kind: "join" }>;
type Side = "left" | "right";

/** A time of one side is at most one of the other side plus a length: `early <= late + byMs`. */
interface Order {
  readonly side: Side;
  readonly early: number;
  readonly late: number;
  readonly byMs: number;
  readonly isStrict: boolean;
}

/**
 * When a row of a side can be freed: nothing that still comes meets it, and it is not taken back any more. All the bounds
 * hold then: for each, the row's value plus the delay is below the watermark (or equal to it, if the bound is strict).
 */
export type Expiry = readonly TimeBound[];

/**
 * Interval and window joins, found by their conditions. If `x.p <= y.q + c` must hold, and rows of X that still come have
 * `p + d >= w` at the watermark w, then a row of Y with `q + c + d < w` meets none of them. An equality of times, such as
 * of the ends of windows, is such a condition in both directions. `null` for a side that is kept for ever.
 */
export function expiryOf(join: Join, side: Side, traits: Readonly<Record<Side, Traits>>): Expiry | null {
  const deadline = ordersOf(join)
    .filter((order) => order.side !== side)
    .flatMap((order) => deadlineOf(order, traits[order.side]))
    .sort((a, b) => a.delayMs - b.delayMs)[0];
  if (deadline === undefined) return null;
  if (traits[side].isAppendOnly) return [deadline];
  const own = traits[side].bounds.toSorted((a, b) => a.delayMs - b.delayMs)[0];
  return own === undefined ? null : [deadline, own];
}

/** A row of the other side than the order's is met by nothing that still comes when this bound is passed. */
function deadlineOf({ early, late, byMs, isStrict }: Order, { bounds }: Traits): TimeBound[] {
  return bounds
    .filter(({ index }) => index === early)
    .map((bound) => ({
      index: late,
      delayMs: bound.delayMs + byMs,
      isStrict: bound.isStrict || isStrict,
    }));
}

/**
 * The columns of the pairs that follow the watermark. A pair changes when one of its rows comes or goes. If it is that of Y,
 * then y.q is bound as it is in Y; if it is that of X, then y.q is not earlier than x.p − c.
 */
export function joinBounds(join: Join, traits: Readonly<Record<Side, Traits>>): TimeBound[] {
  const width = join.left.columns.length;
  const isLeftOnly = ["semi", "anti", "mark"].includes(join.join);
  const sides: readonly Side[] = isLeftOnly ? ["left"] : ["left", "right"];
  return sides.flatMap((side) =>
    traits[side].bounds.flatMap((own) => {
      const index = side === "left" ? own.index : own.index + width;
      // Rows wait for the versions of their own time; what has another bound may come behind it.
      if (join.asOf !== undefined) return side === "left" && own.index === join.asOf.left ? [own] : [];
      if (join.isTemporal) return side === "left" ? [own] : [];
      const met = ordersOf(join)
        .filter((order) => order.side !== side && order.late === own.index)
        .flatMap((order) => deadlineOf(order, traits[order.side]))
        .sort((a, b) => a.delayMs - b.delayMs)[0];
      const kept = join.retention?.[side];
      // What is forgotten meets nothing that comes later.
      if (met === undefined)
        return kept?.time === own.index
          ? [{ index, delayMs: kept.ms + retentionStep(kept), isStrict: false }]
          : [];
      const later = met.delayMs > own.delayMs ? met : own;
      const isStrict = met.delayMs === own.delayMs ? met.isStrict && own.isStrict : later.isStrict;
      return [{ index, delayMs: later.delayMs, isStrict }];
    }),
  );
}

function ordersOf(join: Join): Order[] {
  const width = join.left.columns.length;
  const keys = join.leftKeys.flatMap((key, i) => {
    const other = join.rightKeys[i];
    const [a, b] = [timeOf(key), other === undefined ? null : timeOf(other)];
    return a === null || b === null ? [] : bothWays(a, b);
  });
  return [...keys, ...conjuncts(join.condition).flatMap((each) => orderOf(each, width))];
}

interface Time {
  readonly index: number;
  readonly byMs: number;
}

/** A column of times, or one moved by a constant. */
function timeOf(expression: Expression): Time | null {
  if (expression.type !== "timestamp") return null;
  if (expression.kind === "column") return { index: expression.index, byMs: 0 };
  if (expression.kind === "cast") return timeOf(expression.operand);
  if (expression.kind !== "arithmetic" || expression.right.kind !== "constant") return null;
  const time = timeOf(expression.left);
  const byMs = Number(expression.right.value) * (expression.operator === "-" ? -1 : 1);
  return time === null ? null : { index: time.index, byMs: time.byMs + byMs };
}

function bothWays(left: Time, right: Time): Order[] {
  return [
    { side: "left", early: left.index, late: right.index, byMs: right.byMs - left.byMs, isStrict: false },
    { side: "right", early: right.index, late: left.index, byMs: left.byMs - right.byMs, isStrict: false },
  ];
}

/** The first `width` columns are those of the left side. */
function orderOf(condition: Expression, width: number): Order[] {
  if (condition.kind !== "compare" || condition.operator === "<>") return [];
  const [a, b] = [timeOf(condition.left), timeOf(condition.right)];
  if (a === null || b === null || a.index < width === b.index < width) return [];
  const { operator } = condition;
  const place = (index: number) => (index < width ? index : index - width);
  const order = (early: Time, late: Time, isStrict: boolean): Order => ({
    side: early.index < width ? "left" : "right",
    early: place(early.index),
    late: place(late.index),
    byMs: late.byMs - early.byMs,
    isStrict,
  });
  if (operator === "=") return [order(a, b, false), order(b, a, false)];
  const isStrict = operator === "<" || operator === ">";
  return [operator.startsWith("<") ? order(a, b, isStrict) : order(b, a, isStrict)];
}
