import type { Schema } from "../columns/index.js";
import type { Expression, Type } from "./expression.js";

/** What an aggregate computes over the rows of a group that pass its filter. */
export interface Aggregate extends Type {
  readonly name:
    | "count"
    | "sum"
    | "avg"
    | "min"
    | "max"
    | "bool_and"
    | "bool_or"
    | "string_agg"
    | "array_agg"
    /** The greatest time that a row of the group ever had, also one that was taken back: no function of SQL. */
    | "latest"
    /** One that a program has declared. */
    | "user";
  /** Of `user`: what the program calls it, and its operands behind the first. */
  readonly user?: { readonly name: string; readonly more: readonly Expression[] };
  /** `null` for `count(*)`. */
  readonly operand: Expression | null;
  readonly filter: Expression | null;
  readonly distinct: boolean;
  /** Of `string_agg` and `array_agg`. */
  readonly list: AggregateList | null;
}

/** How values are put one behind the other; values that the order does not tell apart stand in the order of their values. */
export interface AggregateList {
  readonly separator: Expression | null;
  readonly order: readonly {
    readonly key: Expression;
    readonly descending: boolean;
    readonly nullsFirst: boolean;
  }[];
}

/** The expressions of an aggregate. */
export function partsOf({ operand, filter, list, user }: Aggregate): readonly Expression[] {
  const listed = list === null ? [] : [list.separator, ...list.order.map(({ key }) => key)];
  return [operand, filter, ...(user?.more ?? []), ...listed].filter((each) => each !== null);
}

/** The same aggregate over expressions that were changed. */
export function mappedAggregate(aggregate: Aggregate, map: (part: Expression) => Expression): Aggregate {
  const { operand, filter, list, user } = aggregate;
  const mapped = (part: Expression | null) => (part === null ? null : map(part));
  return {
    ...aggregate,
    operand: mapped(operand),
    filter: mapped(filter),
    ...(user === undefined ? {} : { user: { ...user, more: user.more.map(map) } }),
    list:
      list === null
        ? null
        : {
            separator: mapped(list.separator),
            order: list.order.map((each) => ({ ...each, key: map(each.key) })),
          },
  };
}

export interface SortKey {
  readonly index: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** The rows around a row that count, by their distance: negative before it, `null` without end. */
export interface WindowFrame {
  /**
   * With `groups` and `range`, rows that the order does not tell apart count together. Distances of `groups` count such groups; those of
   * `range` are differences in what the rows are ordered by: of times, milliseconds.
   */
  readonly unit: "rows" | "range" | "groups";
  readonly start: number | null;
  readonly end: number | null;
}

export type RankName = "row_number" | "rank" | "dense_rank";

/** A function over the rows of a partition in their order. Operands are columns of the input. */
export type OverFunction = Type &
  (
    | { readonly kind: "rank"; readonly name: RankName }
    /** The place of a row as a part of all: which of `buckets` parts of one size it is in, or a fraction. */
    | { readonly kind: "share"; readonly name: "ntile"; readonly buckets: number }
    | { readonly kind: "share"; readonly name: "percent_rank" | "cume_dist" }
    | {
        readonly kind: "neighbour";
        readonly name: "lag" | "lead";
        readonly operand: number;
        readonly offset: number;
        readonly otherwise: number | null;
      }
    | {
        readonly kind: "edge";
        readonly name: "first_value" | "last_value";
        readonly operand: number;
        readonly frame: WindowFrame;
      }
    /** The row with this number in the frame. */
    | {
        readonly kind: "nth";
        readonly nth: number;
        readonly operand: number;
        readonly frame: WindowFrame;
      }
    | {
        readonly kind: "aggregate";
        readonly name: "count" | "sum" | "avg" | "min" | "max" | "bool_and" | "bool_or";
        /** `null` for `count(*)`. */
        readonly operand: number | null;
        readonly filter: number | null;
        readonly frame: WindowFrame;
      }
  );

/** The columns that a function looks at. */
export function operandsOfOver(given: OverFunction): readonly number[] {
  switch (given.kind) {
    case "rank":
    case "share":
      return [];
    case "neighbour":
      return given.otherwise === null ? [given.operand] : [given.operand, given.otherwise];
    case "edge":
    case "nth":
      return [given.operand];
    case "aggregate":
      return [given.operand, given.filter].filter((each) => each !== null);
  }
}

/** The same function over columns that stand elsewhere. */
export function movedOver(given: OverFunction, place: (index: number) => number): OverFunction {
  const moved = (index: number | null) => (index === null ? null : place(index));
  switch (given.kind) {
    case "rank":
    case "share":
      return given;
    case "neighbour":
      return { ...given, operand: place(given.operand), otherwise: moved(given.otherwise) };
    case "edge":
    case "nth":
      return { ...given, operand: place(given.operand) };
    case "aggregate":
      return { ...given, operand: moved(given.operand), filter: moved(given.filter) };
  }
}

/** Which rows of a partition come out: those whose number or rank is above the offset and at most offset plus limit. */
export interface Cut {
  readonly by: RankName;
  readonly offset: number;
  readonly limit: number | null;
}

/**
 * State is forgotten by time: what has no row any more whose time plus `ms` the watermark has not passed. `time` is a column of the
 * rows that are kept, or, of groups, an aggregate that is their latest time.
 */
export interface StateRetention {
  readonly time: number;
  readonly ms: number;
}

/** Retained state is looked through so many times while the watermark passes the length of the retention. */
const LOOKS = 16;

/** How far the watermark goes between two looks: nothing stays longer than its retention and this. */
export function retentionStep({ ms }: StateRetention): number {
  return Math.max(1, Math.floor(ms / LOOKS));
}

/**
 * What comes out of a join. Inner and outer joins: the columns of the left side, then those of the right; an outer join also gives
 * each row of the side that meets none, with NULLs. Semi and anti join: the left rows that meet one or none. Mark
 * join: every left row, with a truth value behind its columns: whether it meets one, NULL if it meets none and of one it is
 * not known.
 */
export type JoinKind = "inner" | "left" | "right" | "full" | "semi" | "anti" | "mark";

/** What is done to rows one by one, between two operators that keep state; consecutive steps become one function. */
export type RowStep =
  | { readonly kind: "filter"; readonly predicate: Expression }
  | { readonly kind: "project"; readonly outputs: readonly Expression[] }
  /** Gives each row once per window that its time is in, with the window's start and end behind its columns. */
  | {
      readonly kind: "window";
      readonly time: number;
      readonly sizeMs: number;
      readonly slideMs: number;
      /** Windows start at multiples of the slide, and so much later. */
      readonly offsetMs: number;
      /** Windows start at multiples of the size, and end after each multiple of the slide. */
      readonly isCumulative?: true;
    };

/**
 * A checked query as operators over columns. `columns` are the columns of the result, with their types; every expression is over
 * the columns of its operator's input.
 */
export type Plan = {
  readonly columns: Schema;
  /** The words of the query that it was made from, where it keeps state. */
  readonly span?: { readonly start: number; readonly end: number };
} & (
  | { readonly kind: "scan"; readonly table: string }
  /** One row without columns, from the beginning: what a SELECT without FROM selects from. */
  | { readonly kind: "unit" }
  | { readonly kind: "step"; readonly input: Plan; readonly step: RowStep }
  /** Windows that end when no row came for `gapMs`, apart for each value of the keys; start and end stand behind the columns. */
  | {
      readonly kind: "session";
      readonly input: Plan;
      readonly time: number;
      readonly keys: readonly number[];
      readonly gapMs: number;
    }
  /** The keys, then the aggregates. Without keys there is one group, also when there are no rows. */
  | {
      readonly kind: "aggregate";
      readonly input: Plan;
      readonly keys: readonly Expression[];
      readonly aggregates: readonly Aggregate[];
      readonly retention?: StateRetention;
    }
  /** Rows of both sides meet if their keys are equal and the condition is true of both. */
  | {
      readonly kind: "join";
      readonly join: JoinKind;
      /** Rows of the left side meet the rows that the right side has at that moment; changes of the right side emit nothing. */
      readonly isTemporal: boolean;
      /**
       * Rows of the left side meet the version that the right side had at their time: columns of the left and of the right side. The
       * keys tell whose versions they are.
       */
      readonly asOf?: { readonly left: number; readonly right: number };
      readonly left: Plan;
      readonly right: Plan;
      readonly leftKeys: readonly Expression[];
      readonly rightKeys: readonly Expression[];
      readonly condition: Expression | null;
      readonly retention?: { readonly left: StateRetention | null; readonly right: StateRetention | null };
    }
  | { readonly kind: "union"; readonly inputs: readonly Plan[] }
  /**
   * The columns of the input, then the functions. Rows that agree in the keys are a partition. Rows that the order does not
   * tell apart stand in the order of all their columns.
   */
  | {
      readonly kind: "over";
      readonly input: Plan;
      readonly keys: readonly number[];
      readonly order: readonly SortKey[];
      readonly functions: readonly OverFunction[];
      readonly cut: Cut | null;
      readonly retention?: StateRetention;
    }
  | {
      readonly kind: "sort";
      readonly input: Plan;
      readonly order: readonly SortKey[];
      readonly limit: number | null;
      readonly offset: number;
      readonly retention?: StateRetention;
    }
);
