import type {
  PlanExpression,
  AggregateCall as SqlAggregate,
  LogicalPlan as SqlPlan,
} from "../../sql/index.js";
import { type ColumnSpec, column } from "../columns/index.js";
import type { Aggregate, Expression, OverFunction, Plan, SortKey } from "../plan/index.js";
import { Expressions } from "./expression.js";
import type { Lowering } from "./subquery-joins.js";
import { columnAt } from "./types.js";

type SqlOver = Extract<SqlPlan, { kind: "over" }>;
type Given = SqlOver["functions"][number];

interface OverLowering extends Lowering {
  readonly aggregate: (given: SqlAggregate, expressions: Expressions) => Aggregate;
}

/**
 * Functions with OVER. Functions that share partitions and order become one operator; what they look at, and is no column, is computed
 * before it and left out behind it, like all columns of the input behind the first `width`.
 */
export function withOver(plan: SqlOver, input: Plan, width: number, lowering: OverLowering): Plan {
  const places: number[] = [];
  let made = input;
  for (const group of groupsOf(plan.functions)) {
    const first = plan.functions[group[0] ?? 0];
    if (first === undefined) continue;
    const computed = new Computed(made, new Expressions(lowering.text, input.columns), lowering);
    const digits = Math.max(0, ...group.map((i) => distanceDigits(plan.functions[i])));
    const keys = first.partition.map((each) => computed.place(each));
    const order = first.order.map(
      ({ expression, descending, nullsFirst }): SortKey => ({
        index: computed.put(withDigits(computed.expressions.lower(expression), digits), expression),
        descending,
        nullsFirst,
      }),
    );
    const functions = group.flatMap((i) => {
      const given = plan.functions[i];
      return given === undefined ? [] : [functionOf(given, computed, lowering)];
    });
    const before = computed.plan;
    for (const [nth, i] of group.entries()) places[i] = before.columns.length + nth;
    const specs = functions.map(({ type, nullable, scale }, i) =>
      column(`over${i}`, type === "interval" ? "float" : type, nullable, scale),
    );
    const columns = [...before.columns, ...specs];
    made = { kind: "over", input: before, keys, order, functions, cut: null, columns, span: first.span };
  }
  const kept = [...input.columns.slice(0, width).keys(), ...plan.functions.map((_, i) => places[i] ?? width)];
  const outputs = kept.map((index) => columnAt(made.columns[index] ?? column("", "int"), index));
  const columns = outputs.map(
    ({ type, nullable, scale }, i): ColumnSpec =>
      column(plan.columns[i]?.name ?? "", type === "interval" ? "float" : type, nullable, scale),
  );
  return { kind: "step", input: made, step: { kind: "project", outputs }, columns };
}

/** How many digits behind the point the distances of RANGE have. */
function distanceDigits(given: Given | undefined): number {
  if (given?.frame.unit !== "range") return 0;
  const { start, end } = given.frame;
  return Math.max(
    ...[start, end].map((distance) => /\.(\d+)$/.exec(String(distance ?? 0))?.[1]?.length ?? 0),
  );
}

/** A decimal with at least so many digits, so that a distance can be added to it. */
function withDigits(given: Expression, scale: number): Expression {
  if (given.type !== "numeric" || given.scale >= scale) return given;
  return { kind: "cast", type: "numeric", scale, nullable: given.nullable, operand: given };
}

/** The functions by what they share, as numbers. */
function groupsOf(functions: readonly Given[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [i, { partition, order }] of functions.entries()) {
    const name = JSON.stringify([partition, order], (key, value) => (key === "span" ? undefined : value));
    groups.set(name, [...(groups.get(name) ?? []), i]);
  }
  return [...groups.values()];
}

/** An input with columns behind its own for what is computed of them. */
class Computed {
  readonly #outputs: Expression[];

  constructor(
    readonly input: Plan,
    readonly expressions: Expressions,
    readonly lowering: OverLowering,
  ) {
    this.#outputs = input.columns.map((spec, index) => columnAt(spec, index));
  }

  place(given: PlanExpression): number {
    return this.put(this.expressions.lower(given), given);
  }

  put(expression: Expression, { span }: Pick<PlanExpression, "span">): number {
    if (expression.type === "interval")
      return this.lowering.refuse(
        span,
        "OVER takes no lengths of time yet; take extract(epoch from …) of them.",
      );
    if (expression.kind === "column") return expression.index;
    return this.#outputs.push(expression) - 1;
  }

  get plan(): Plan {
    const { input } = this;
    if (this.#outputs.length === input.columns.length) return input;
    const added = this.#outputs
      .slice(input.columns.length)
      .map(({ type, nullable, scale }, i) =>
        column(`computed${i}`, type === "interval" ? "float" : type, nullable, scale),
      );
    const step = { kind: "project", outputs: this.#outputs } as const;
    return { kind: "step", input, step, columns: [...input.columns, ...added] };
  }
}

function functionOf(given: Given, computed: Computed, lowering: OverLowering): OverFunction {
  const { function: what, frame, span, nullable } = given;
  const place = (each: PlanExpression) => computed.place(each);
  switch (what.kind) {
    case "rank":
      return { kind: "rank", name: what.name, type: "int", scale: 0, nullable: false };
    case "share": {
      const { name, buckets } = what;
      if (name === "ntile")
        return { ...{ kind: "share", name, buckets }, type: "int", scale: 0, nullable: false };
      return { kind: "share", name, type: "float", scale: 0, nullable: false };
    }
    case "neighbour": {
      const [operand, otherwise] = sameScale(
        [what.operand, ...(what.otherwise === null ? [] : [what.otherwise])].map((each) =>
          computed.expressions.lower(each),
        ),
      );
      const first = operand ?? computed.expressions.lower(what.operand);
      return {
        ...{ kind: "neighbour", name: what.name, offset: what.offset },
        ...{ type: first.type, scale: first.scale, nullable },
        operand: computed.put(first, given),
        otherwise: otherwise === undefined ? null : computed.put(otherwise, given),
      };
    }
    case "edge": {
      const { type, scale } = computed.expressions.lower(what.operand);
      return { kind: "edge", name: what.name, operand: place(what.operand), frame, type, scale, nullable };
    }
    case "nth": {
      const { type, scale } = computed.expressions.lower(what.operand);
      const { nth, operand } = what;
      return { kind: "nth", nth, operand: place(operand), frame, type, scale, nullable };
    }
    case "aggregate": {
      const made = lowering.aggregate(what.aggregate, computed.expressions);
      const { name, type, scale } = made;
      if (name === "string_agg" || name === "array_agg" || name === "latest" || name === "user")
        return lowering.refuse(span, `${name}() OVER is not run yet; use it with GROUP BY.`);
      return {
        ...{ kind: "aggregate", name, frame, type, scale },
        nullable: name !== "count",
        operand: made.operand === null ? null : computed.put(made.operand, given),
        filter: made.filter === null ? null : computed.put(made.filter, given),
      };
    }
  }
}

/** Decimals of one scale. */
function sameScale(given: readonly Expression[]): Expression[] {
  const scale = Math.max(0, ...given.map((each) => each.scale));
  return given.map((each) =>
    each.type !== "numeric" || each.scale === scale
      ? each
      : { kind: "cast", type: each.type, scale, nullable: each.nullable, operand: each },
  );
}
