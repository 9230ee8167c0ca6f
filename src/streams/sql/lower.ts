import type {
  ResolvedQuery,
  Aggregate as UntypedAggregate,
  PlanExpression as UntypedExpression,
  Plan as UntypedPlan,
} from "../../analysis/sql/plan.js";
import { pointAt, type Span } from "../../analysis/sql/source.js";
import { HeadwaterError } from "../../errors.js";
import { type ColumnSpec, column, type Schema } from "../columns/index.js";
import type { Aggregate, Expression, Plan, Type } from "../plan/index.js";
import { Typing } from "./expression.js";
import { conjuncts, meeting } from "./join-keys.js";
import { common, isNumber, QUOTIENT_SCALE } from "./types.js";

/** A resolved query as a plan that runs, by the columns of its tables. What does not run yet is refused with its place. */
export function lower(query: ResolvedQuery, tables: Readonly<Record<string, Schema>>): Plan {
  return part(query.plan);

  function refuse(span: Span, what: string): never {
    throw new HeadwaterError("HW-5102", pointAt(query.text, span, what));
  }

  function part(plan: UntypedPlan): Plan {
    switch (plan.kind) {
      case "scan": {
        const columns = Object.hasOwn(tables, plan.table) ? tables[plan.table] : undefined;
        return {
          kind: "scan",
          table: plan.table,
          columns: columns ?? refuse(plan.span, `There is no table ${plan.table}.`),
        };
      }
      case "window":
        return windowed(plan);
      case "filter": {
        // What is asked of the rows of an inner join can as well be asked where they meet.
        if (plan.input.kind === "join" && plan.input.join === "inner")
          return joined(plan.input, [plan.predicate]);
        const input = part(plan.input);
        const predicate = new Typing(query.text, input.columns).condition(plan.predicate);
        return { kind: "step", input, step: { kind: "filter", predicate }, columns: input.columns };
      }
      case "project": {
        const input = part(plan.input);
        const typing = new Typing(query.text, input.columns);
        const outputs = plan.outputs.map(({ expression }) => typing.expression(expression));
        return projected(input, outputs, plan.columns, plan.span);
      }
      case "aggregate":
        return grouped(plan);
      case "distinct": {
        const input = part(plan.input);
        const keys = input.columns.map((spec, index) => columnAt(spec, index));
        for (const key of keys) checkKey(key, plan.span);
        return { kind: "aggregate", input, keys, aggregates: [], columns: input.columns };
      }
      case "union":
        return united(plan);
      case "limit": {
        const input = part(plan.input);
        const limit = plan.limit === Number.MAX_SAFE_INTEGER ? null : plan.limit;
        return { kind: "sort", input, order: plan.order, limit, offset: plan.offset, columns: input.columns };
      }
      case "join":
        return joined(plan, []);
      case "unit":
        return refuse(plan.span, "A query without FROM is not run yet.");
    }
  }

  function projected(
    input: Plan,
    outputs: readonly Expression[],
    names: readonly string[],
    span: Span,
  ): Plan {
    const columns = outputs.map((output, i): ColumnSpec => {
      if (output.type === "interval")
        return refuse(span, "A length of time cannot be a column; take extract(epoch from …) of the times.");
      return column(names[i] ?? "", output.type, output.nullable, output.scale);
    });
    return { kind: "step", input, step: { kind: "project", outputs }, columns };
  }

  function joined(plan: Extract<UntypedPlan, { kind: "join" }>, more: readonly UntypedExpression[]): Plan {
    const [left, right] = [part(plan.left), part(plan.right)];
    const columns = [
      ...left.columns,
      ...right.columns.map((spec) => (plan.join === "left" ? { ...spec, nullable: true } : spec)),
    ];
    const typing = new Typing(query.text, [...left.columns, ...right.columns]);
    const conditions = [...(plan.on === null ? [] : [plan.on]), ...more].map((each) =>
      typing.condition(each),
    );
    return {
      ...meeting(conditions.flatMap(conjuncts), left.columns.length),
      kind: "join",
      join: plan.join,
      left,
      right,
      columns,
    };
  }

  function windowed(plan: Extract<UntypedPlan, { kind: "window" }>): Plan {
    const input = part(plan.input);
    const time = input.columns[plan.time];
    if (time?.type !== "timestamp")
      return refuse(
        plan.span,
        `The time of a window is a timestamp, and ${time?.name} is ${time?.type}. Cast it in a subquery, or give the column its type.`,
      );
    const bounds = [column("window_start", "timestamp", false), column("window_end", "timestamp", false)];
    const columns = [...input.columns, ...bounds];
    const { sizeMs, slideMs, keys } = plan;
    if (plan.window === "session")
      return { kind: "session", input, time: plan.time, keys, gapMs: sizeMs, columns };
    return { kind: "step", input, step: { kind: "window", time: plan.time, sizeMs, slideMs }, columns };
  }

  function grouped(plan: Extract<UntypedPlan, { kind: "aggregate" }>): Plan {
    const input = part(plan.input);
    const typing = new Typing(query.text, input.columns);
    const keys = plan.keys.map((key) => typing.expression(key));
    for (const [i, key] of keys.entries()) checkKey(key, plan.keys[i]?.span ?? plan.span);
    const aggregates = plan.aggregates.map((each) => aggregate(each, typing, plan.grouped));
    const specs = [...keys, ...aggregates].map((each, i) =>
      column(plan.columns[i] ?? "", storable(each.type, plan.span), each.nullable, each.scale),
    );
    return { kind: "aggregate", input, keys, aggregates, columns: specs };
  }

  function checkKey({ type }: Type, span: Span): void {
    if (type === "numeric")
      refuse(span, "Exact decimals cannot be grouped by yet; cast them to text or to float8.");
    storable(type, span);
  }

  function storable(type: Type["type"], span: Span): Exclude<Type["type"], "interval"> {
    return type === "interval" ? refuse(span, "Lengths of time cannot be grouped or aggregated yet.") : type;
  }

  function aggregate(given: UntypedAggregate, typing: Typing, isGrouped: boolean): Aggregate {
    const { name, distinct } = given;
    const operand = given.operand === null ? null : typing.expression(given.operand);
    const base = { name, operand, filter: null, distinct: distinct && name !== "min" && name !== "max" };
    if (name === "count" || operand === null) return { ...base, type: "int", scale: 0, nullable: false };
    const nullable = operand.nullable || !isGrouped;
    if (base.distinct && operand.type === "numeric")
      return refuse(given.span, "DISTINCT of exact decimals is not run yet.");
    if (name === "min" || name === "max")
      return { ...base, type: storable(operand.type, given.span), scale: operand.scale, nullable };
    if (name === "bool_and" || name === "bool_or") {
      if (operand.type !== "bool")
        return refuse(given.span, `${name}() takes truth values, not ${operand.type}.`);
      return { ...base, type: "bool", scale: 0, nullable };
    }
    if (!isNumber(operand.type)) return refuse(given.span, `${name}() takes numbers, not ${operand.type}.`);
    if (operand.type === "float") return { ...base, type: "float", scale: 0, nullable };
    // Sums of integers are exact, however large, as in PostgreSQL.
    const scale = name === "avg" ? Math.max(QUOTIENT_SCALE, operand.scale) : operand.scale;
    return { ...base, type: "numeric", scale, nullable };
  }

  function united({ left, right, columns, span }: Extract<UntypedPlan, { kind: "union" }>): Plan {
    const inputs = [part(left), part(right)];
    const [first, second] = inputs.map((input) => input.columns);
    const specs = columns.map((name, i): ColumnSpec => {
      const [a, b] = [first?.[i], second?.[i]];
      const type = a === undefined || b === undefined ? null : common(a, b);
      if (type === null || a === undefined || b === undefined)
        return refuse(
          span,
          `The sides of UNION have different types in their column ${i + 1}: ${a?.type} and ${b?.type}.`,
        );
      return column(name, storable(type.type, span), a.nullable || b.nullable, type.scale);
    });
    return { kind: "union", inputs: inputs.map((input) => asColumns(input, specs)), columns: specs };
  }
}

function columnAt({ type, nullable, scale }: ColumnSpec, index: number): Expression {
  return { kind: "column", index, type, nullable, scale };
}

/** The same rows with columns of other types. */
function asColumns(input: Plan, specs: Schema): Plan {
  const outputs = specs.map(({ type, scale }, index): Expression => {
    const operand = columnAt(input.columns[index] ?? column("", type), index);
    return operand.type === type && operand.scale === scale
      ? operand
      : { kind: "cast", type, scale, nullable: operand.nullable, operand };
  });
  return { kind: "step", input, step: { kind: "project", outputs }, columns: specs };
}
