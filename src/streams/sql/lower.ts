import { HeadwaterError } from "../../errors.js";
import {
  type PlanExpression,
  pointAt,
  type ResolvedQuery,
  type Span,
  type AggregateCall as SqlAggregate,
  type LogicalPlan as SqlPlan,
} from "../../sql/index.js";
import { type ColumnSpec, column, type Schema } from "../columns/index.js";
import {
  type Aggregate,
  conjunction,
  conjuncts,
  type Expression,
  type Plan,
  type Type,
} from "../plan/index.js";
import { Expressions } from "./expression.js";
import { meeting } from "./join-keys.js";
import { withOver } from "./over.js";
import { allOf } from "./same-value.js";
import { combined } from "./set-operations.js";
import { conjunctsOf, subqueriesIn } from "./subqueries.js";
import { movedBeyond, withSidesAsked } from "./subqueries-of-on.js";
import { filteredBySubquery, type Lowering, withSubqueries, withSubqueriesIn } from "./subquery-joins.js";
import { columnAt, OPEN_SCALE, widestScale } from "./types.js";
import { type Versions, versionJoin } from "./version-join.js";

/** A resolved query as a plan that runs, by the columns of its tables. What does not run yet is refused with its place. */
export function lower(
  query: ResolvedQuery,
  tables: Readonly<Record<string, Schema>>,
  versions: Versions = {},
): Plan {
  const given = new Map<SqlPlan, Plan>();
  const lowering: Lowering = { text: query.text, part, refuse, given };
  return part(query.plan);

  function refuse(span: Span, what: string): never {
    throw new HeadwaterError("HW-5102", pointAt(query.text, span, what));
  }

  function over(input: Plan): Expressions {
    return new Expressions(query.text, input.columns);
  }

  function part(plan: SqlPlan): Plan {
    switch (plan.kind) {
      case "scan": {
        const known = given.get(plan);
        if (known !== undefined) return known;
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
        const all = conjunctsOf(plan.predicate);
        const asked = all.filter((each) => subqueriesIn(each).length > 0);
        const plain = all.filter((each) => !asked.includes(each));
        const { input } = plan;
        const first =
          input.kind === "join" && input.join === "inner"
            ? joined(input, plain)
            : plain.reduce((made, each) => filtered(made, each), part(input));
        return asked.reduce((made, each) => filtered(made, each), first);
      }
      case "project": {
        const given = part(plan.input);
        const { input, expressions } = withSubqueries(
          given,
          plan.outputs.map(({ expression }) => expression),
          lowering,
        );
        const outputs = expressions.map((expression) => over(input).lower(expression));
        return projected(input, outputs, plan);
      }
      case "aggregate":
        return grouped(plan);
      case "distinct": {
        const input = part(plan.input);
        const keys = input.columns.map((spec, index) => columnAt(spec, index));
        for (const key of keys) checkKey(key, plan.span);
        return { kind: "aggregate", input, keys, aggregates: [], columns: input.columns, span: plan.span };
      }
      case "union":
        return united(plan);
      case "limit": {
        const input = part(plan.input);
        const limit = plan.limit === Number.MAX_SAFE_INTEGER ? null : plan.limit;
        const { order, offset, span } = plan;
        return { kind: "sort", input, order, limit, offset, columns: input.columns, span };
      }
      case "join":
        return joined(plan, []);
      case "unit":
        return UNIT;
      case "values":
        return valuesOf(plan);
      case "over": {
        const before = part(plan.input);
        const { input, part: asked } = withSubqueriesIn(before, plan, lowering);
        return withOver(asked, input, before.columns.length, { ...lowering, aggregate });
      }
      case "distinct on": {
        const input = part(plan.input);
        const cut = { by: "row_number", offset: 0, limit: 1 } as const;
        const { keys, order } = plan;
        return {
          kind: "over",
          input,
          keys,
          order,
          functions: [],
          cut,
          columns: input.columns,
          span: plan.span,
        };
      }
      case "set operation": {
        const sides = alike([part(plan.left), part(plan.right)], plan);
        for (const spec of sides.columns) checkKey(spec, plan.span);
        return combined(sides.inputs, sides.columns, plan.operation, plan.all);
      }
    }
  }

  function filtered(given: Plan, condition: PlanExpression): Plan {
    const met = filteredBySubquery(given, condition, lowering);
    if (met !== null) return met;
    const { input, expressions } = withSubqueries(given, [condition], lowering);
    const predicate = conjunction(expressions.map((each) => over(input).lower(each)));
    if (predicate === null) return input;
    const kept: Plan = { kind: "step", input, step: { kind: "filter", predicate }, columns: input.columns };
    if (input === given) return kept;
    const outputs = given.columns.map((spec, index) => columnAt(spec, index));
    return { kind: "step", input: kept, step: { kind: "project", outputs }, columns: given.columns };
  }

  function projected(input: Plan, outputs: readonly Expression[], plan: SqlPlan): Plan {
    const columns = outputs.map((output, i) => specOf(plan.columns[i]?.name ?? "", output, plan.span));
    return { kind: "step", input, step: { kind: "project", outputs }, columns };
  }

  function specOf(name: string, { type, nullable, scale }: Type, span: Span): ColumnSpec {
    if (type === "interval")
      return refuse(
        span,
        "A length of time cannot be a column yet; take extract(epoch from …) of the times.",
      );
    return column(name, type, nullable, scale);
  }

  function joined(plan: Extract<SqlPlan, { kind: "join" }>, more: readonly PlanExpression[]): Plan {
    const { join } = plan;
    const width = plan.left.columns.length;
    const asked = plan.on === null ? [] : conjunctsOf(plan.on);
    const nested = asked.filter((each) => subqueriesIn(each).length > 0);
    if (nested.length > 0 && plan.asOf === null && !plan.isTemporal) {
      const plain = asked.filter((each) => !nested.includes(each));
      // Which rows of an inner join meet can be asked of the pairs.
      if (join === "inner")
        return nested.reduce(
          (made, each) => filtered(made, each),
          joined({ ...plan, on: allOf(plain) }, more),
        );
      return withSidesAsked(plan, nested, lowering, (left, right, on) =>
        met(
          plan,
          left,
          right,
          [...plain.map((each) => movedBeyond(each, width, left.columns.length)), ...on],
          more,
        ),
      );
    }
    return met(plan, part(plan.left), part(plan.right), asked, more);
  }

  function met(
    plan: Extract<SqlPlan, { kind: "join" }>,
    left: Plan,
    right: Plan,
    asked: readonly PlanExpression[],
    more: readonly PlanExpression[],
  ): Plan {
    const { join } = plan;
    const lacking = (side: Plan, isLacking: boolean) =>
      side.columns.map((spec) => (isLacking ? { ...spec, nullable: true } : spec));
    const columns = [
      ...lacking(left, join === "right" || join === "full"),
      ...lacking(right, join === "left" || join === "full"),
    ];
    const both = new Expressions(query.text, [...left.columns, ...right.columns]);
    const lowered = (all: readonly PlanExpression[]) =>
      all.map((each) => both.lower(each)).flatMap(conjuncts);
    const on = lowered(asked);
    if (plan.asOf !== null) {
      const how = versionJoin(plan, right, on, { text: query.text, width: left.columns.length, versions });
      const condition = conjunction([...(how.condition === null ? [] : [how.condition]), ...lowered(more)]);
      return {
        ...how,
        condition,
        kind: "join",
        join,
        isTemporal: true,
        left,
        right,
        columns,
        span: plan.span,
      };
    }
    const how = meeting([...on, ...lowered(more)], left.columns.length);
    return { ...how, kind: "join", join, isTemporal: plan.isTemporal, left, right, columns, span: plan.span };
  }

  function windowed(plan: Extract<SqlPlan, { kind: "window" }>): Plan {
    const input = part(plan.input);
    const time = input.columns[plan.time];
    if (time?.type !== "timestamp")
      return refuse(
        plan.span,
        `The time of a window is a timestamp, and ${time?.name} is ${time?.type}. Cast it in a subquery, or give the column its type.`,
      );
    const bounds = [column("window_start", "timestamp", false), column("window_end", "timestamp", false)];
    const columns = [...input.columns, ...bounds];
    const { sizeMs, slideMs, offsetMs, keys } = plan;
    if (plan.window === "session")
      return { kind: "session", input, time: plan.time, keys, gapMs: sizeMs, columns, span: plan.span };
    return {
      kind: "step",
      input,
      step: {
        ...{ kind: "window", time: plan.time, sizeMs, slideMs, offsetMs },
        ...(plan.window === "cumulate" ? { isCumulative: true } : {}),
      },
      columns,
    };
  }

  function grouped(written: Extract<SqlPlan, { kind: "aggregate" }>): Plan {
    const { input, part: plan } = withSubqueriesIn(part(written.input), written, lowering);
    const expressions = over(input);
    const keys = plan.keys.map((key) => expressions.lower(key));
    for (const [i, key] of keys.entries()) checkKey(key, plan.keys[i]?.span ?? plan.span);
    const aggregates = plan.aggregates.map((each) => aggregate(each, expressions));
    const specs = [...keys, ...aggregates].map((each, i) =>
      specOf(plan.columns[i]?.name ?? "", each, plan.span),
    );
    return { kind: "aggregate", input, keys, aggregates, columns: specs, span: plan.span };
  }

  function checkKey({ type }: Type, span: Span): void {
    if (type === "interval") refuse(span, "Lengths of time cannot be grouped by yet.");
  }

  function aggregate(given: SqlAggregate, expressions: Expressions): Aggregate {
    const { name, span, nullable } = given;
    const [first, second] = given.operands;
    const operand = first === undefined ? null : expressions.lower(first);
    const filter = given.filter === null ? null : expressions.lower(given.filter);
    const isList = name === "string_agg" || name === "array_agg";
    const distinct = given.distinct && name !== "min" && name !== "max";
    if (distinct && operand?.type === "interval")
      return refuse(span, "DISTINCT of lengths of time is not run yet.");
    const list = !isList
      ? null
      : {
          separator: second === undefined ? null : expressions.lower(second),
          order: given.order.map(({ expression, descending, nullsFirst }) => ({
            key: expressions.lower(expression),
            descending,
            nullsFirst,
          })),
        };
    if (list !== null && [operand, list.separator, ...list.order.map(({ key }) => key)].some(isOpenValue))
      return refuse(
        span,
        `${name}() of exact decimals and lengths of time is not run yet; cast them to text.`,
      );
    // An array comes out as JSON.
    const type =
      name === "array_agg" ? "json" : expressions.typeOf({ ...given, kind: "constant", value: null }).type;
    const scale =
      type !== "numeric"
        ? 0
        : name === "avg"
          ? Math.max(OPEN_SCALE, operand?.scale ?? 0)
          : (operand?.scale ?? 0);
    const user =
      given.user === undefined
        ? {}
        : {
            user: { name: given.user, more: given.operands.slice(1).map((each) => expressions.lower(each)) },
          };
    return { name, operand, filter, distinct, list, type, scale, nullable, ...user };
  }

  function united(plan: Extract<SqlPlan, { kind: "union" }>): Plan {
    return { kind: "union", ...alike([part(plan.left), part(plan.right)], plan) };
  }

  function valuesOf(plan: Extract<SqlPlan, { kind: "values" }>): Plan {
    const rows = plan.rows.map((row) => {
      const { input, expressions } = withSubqueries(UNIT, row, lowering);
      return projected(
        input,
        expressions.map((each) => over(input).lower(each)),
        plan,
      );
    });
    const { inputs, columns } = alike(rows, plan);
    const [only] = inputs;
    return only !== undefined && inputs.length === 1 ? only : { kind: "union", inputs, columns };
  }

  /** Inputs whose columns have one type and scale, under the names of the plan. */
  function alike(
    inputs: readonly Plan[],
    { columns, span }: SqlPlan,
  ): { readonly inputs: readonly Plan[]; readonly columns: Schema } {
    const specs = columns.map(({ name }, i): ColumnSpec => {
      const sides = inputs.flatMap((input) => input.columns[i] ?? []);
      const [first] = sides;
      if (first === undefined || sides.some(({ type }) => type !== first.type))
        return refuse(span, `The rows that are put together have different types in column ${i + 1}.`);
      return column(
        name,
        first.type,
        sides.some(({ nullable }) => nullable),
        widestScale(sides),
      );
    });
    return { inputs: inputs.map((input) => asColumns(input, specs)), columns: specs };
  }
}

const UNIT: Plan = { kind: "unit", columns: [] };

function isOpenValue(value: Expression | null): boolean {
  return value?.type === "numeric" || value?.type === "interval";
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
