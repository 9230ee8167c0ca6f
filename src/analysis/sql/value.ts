import type { Span } from "../../sql/index.js";
import type { AttributeType } from "../graph.js";
import { type Signs, STILL } from "./sign.js";

/** A column of a table, or a function of columns of one row of it, that a value was made from. */
export interface ColumnOrigin {
  readonly scan: number;
  readonly attribute: string;
  /** Not a column: `Computed` says what it is made of. */
  readonly computed: boolean;
  /** Different values there are different values here. The identity does that (Blazes, section VII.B.2). */
  readonly injective: boolean;
  /** A later value there is never an earlier value here. */
  readonly orderPreserving: boolean;
}

/** An attribute that rows do not carry but determine, such as `window_start`. */
export interface Computed {
  readonly from: readonly string[];
  readonly orderPreserving: boolean;
}

/**
 * Where NULL stands among the values that one column of a row takes over time. A sum is NULL before it is small, so NULL
 * counts as less than everything, and a condition "more than" cannot come and go because of it, but "less than" can.
 */
export type Nulls = "never" | "low" | "high" | "any";

/** What is known of one column of a relation. */
export interface ColumnFacts {
  /** How the value moves in a row that stays. */
  readonly moves: Signs;
  readonly nulls: Nulls;
  readonly nonNegative: boolean;
  /** It can be NULL although no table holds a NULL, such as a column of the right side of a left join. */
  readonly lacks: boolean;
  /** `null` if it is not declared and does not follow from the expression. */
  readonly type: AttributeType | null;
  /** The scans whose rows change this value when they come twice. */
  readonly minds: ReadonlySet<number>;
  readonly origins: readonly ColumnOrigin[];
  /** The same for all rows. */
  readonly constant: boolean;
  /** The words that made it, if they are an aggregate. */
  readonly what: Span | null;
}

export const PLAIN: ColumnFacts = {
  moves: STILL,
  nulls: "never",
  nonNegative: false,
  lacks: false,
  type: null,
  minds: new Set(),
  origins: [],
  constant: false,
  what: null,
};

export function nullsOf(...all: readonly Nulls[]): Nulls {
  return all.reduce((a, b) => (a === "never" || a === b ? b : b === "never" ? a : "any"), "never");
}

export function turnedNulls(nulls: Nulls): Nulls {
  return nulls === "low" ? "high" : nulls === "high" ? "low" : nulls;
}

export function union<T>(...sets: readonly ReadonlySet<T>[]): ReadonlySet<T> {
  return new Set(sets.flatMap((set) => [...set]));
}

export function addOrigins(value: ColumnFacts, more: readonly ColumnOrigin[]): ColumnFacts {
  const isNew = (origin: ColumnOrigin) =>
    !value.origins.some(
      ({ scan, attribute, injective }) =>
        scan === origin.scan && attribute === origin.attribute && (injective || !origin.injective),
    );
  return { ...value, origins: [...value.origins, ...more.filter(isNew)] };
}

/** Of what is left of the origins when a function is applied that need not tell values apart. */
export function blurred(value: ColumnFacts, orderPreserving: boolean): ColumnOrigin[] {
  return value.origins
    .filter(({ computed }) => !computed)
    .map((origin) => ({
      ...origin,
      injective: false,
      orderPreserving: origin.orderPreserving && orderPreserving,
    }));
}
