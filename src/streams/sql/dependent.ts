import type { PlanColumn, PlanExpression, LogicalPlan as SqlPlan } from "../../sql/index.js";
import { looksOut, type Outer, outward } from "./outer-columns.js";
import { alikeOf, allOf } from "./same-value.js";

type Of<K extends SqlPlan["kind"]> = Extract<SqlPlan, { kind: K }>;
type Columns = SqlPlan["columns"];

/**
 * A subquery that uses columns of the query around it, as a relation that has its answer for every value of them: the rows of the
 * subquery, and behind their columns those of `domain`, for which they are an answer. The domain is handed down to where its columns
 * are used; operators above it keep the answers apart. (Neumann and Kemper, "Unnesting Arbitrary Queries".)
 */
export class Dependent {
  constructor(
    readonly domain: SqlPlan,
    /** Where a column of the query around the subquery stands in the domain. */
    readonly slots: ReadonlyMap<number, number>,
  ) {}

  answers(plan: SqlPlan): SqlPlan {
    const { domain } = this;
    if (!looksOut(plan)) return joined("inner", plan, domain, null, plan.span);
    switch (plan.kind) {
      case "filter": {
        const input = this.answers(plan.input);
        const predicate = this.#inside(plan.predicate, plan.input.columns.length);
        return { ...plan, input, predicate, columns: input.columns };
      }
      case "project": {
        const input = this.answers(plan.input);
        const width = plan.input.columns.length;
        const outputs = plan.outputs.map((each) => ({
          ...each,
          expression: this.#inside(each.expression, width),
        }));
        return projected(input, [...outputs, ...this.#domainColumns(input)], plan.span);
      }
      case "aggregate":
        return this.#aggregate(plan);
      case "distinct": {
        const input = this.answers(plan.input);
        return { ...plan, input, columns: input.columns };
      }
      case "distinct on": {
        const input = this.answers(plan.input);
        const keys = [...plan.keys, ...domain.columns.map((_, i) => plan.columns.length + i)];
        return { ...plan, input, keys, columns: input.columns };
      }
      case "union":
      case "set operation": {
        const [left, right] = [this.answers(plan.left), this.answers(plan.right)];
        return { ...plan, left, right, columns: [...plan.columns, ...domain.columns] };
      }
      case "limit":
        return this.#limit(plan);
      case "over":
        return this.#over(plan);
      case "window": {
        const input = this.answers(plan.input);
        const width = plan.input.columns.length;
        const keys = [...plan.keys, ...domain.columns.map((_, i) => width + i)];
        const bounds = plan.columns.slice(width);
        const made: SqlPlan = { ...plan, input, keys, columns: [...input.columns, ...bounds] };
        return reordered(made, [...range(0, width), ...range(made.columns.length - 2, 2)], width, domain);
      }
      case "join":
        return this.#join(plan);
      case "values": {
        const rows = plan.rows.map((row): SqlPlan => {
          const outputs = row.map((each, i) => ({
            name: plan.columns[i]?.name ?? "",
            expression: this.#inside(each, 0),
          }));
          return projected(domain, [...outputs, ...columnsFrom(domain, 0)], plan.span);
        });
        return rows.reduce((left, right) => ({
          ...{ kind: "union", left, right, span: plan.span },
          columns: left.columns.map((each, i) => ({
            ...each,
            nullable: each.nullable || (right.columns[i]?.nullable ?? true),
          })),
        }));
      }
      case "unit":
      case "scan":
        return joined("inner", plan, domain, null, plan.span);
    }
  }

  /** Without GROUP BY there is an answer for every value of the domain, also where there are no rows. */
  #aggregate(plan: Of<"aggregate">): SqlPlan {
    const { domain } = this;
    const input = this.answers(plan.input);
    const width = plan.input.columns.length;
    const inside = (each: PlanExpression) => this.#inside(each, width);
    const own = this.#domainColumns(input).map(({ expression }) => expression);
    const keys = [...plan.keys.map(inside), ...own];
    const aggregates = plan.aggregates.map((each) => ({
      ...each,
      operands: each.operands.map(inside),
      filter: each.filter === null ? null : inside(each.filter),
      order: each.order.map((item) => ({ ...item, expression: inside(item.expression) })),
    }));
    const columns = [
      ...plan.columns.slice(0, plan.keys.length),
      ...domain.columns,
      ...plan.columns.slice(plan.keys.length),
    ];
    const made: SqlPlan = { ...plan, grouped: true, input, keys, aggregates, columns };
    const first = keys.length;
    if (plan.grouped)
      return reordered(
        made,
        [...range(0, plan.keys.length), ...range(first, aggregates.length)],
        plan.keys.length,
        domain,
      );
    const count = domain.columns.length;
    const all = joined(
      "left",
      domain,
      made,
      alikeOf(
        domain.columns.map((_, i) => [columnOf(domain, i), columnOf(made, i, count)] as const),
        plan.span,
      ),
      plan.span,
    );
    const values = aggregates.map((each, i): PlanColumn => {
      const value = columnOf(all, count + first + i);
      const name = plan.columns[i]?.name ?? "";
      if (each.name !== "count") return { name, expression: value };
      const { type, span } = value;
      const zero: PlanExpression = { kind: "constant", value: 0, type, nullable: false, span };
      return {
        name,
        expression: {
          ...{ kind: "call", name: "coalesce", operands: [value, zero], type, nullable: false, span },
        },
      };
    });
    return projected(all, [...values, ...columnsFrom(all, 0, count)], plan.span);
  }

  /** The first rows of each answer. */
  #limit(plan: Of<"limit">): SqlPlan {
    const input = this.answers(plan.input);
    const { span } = plan;
    const order = plan.order.map(({ index, descending, nullsFirst }) => ({
      expression: columnOf(input, index),
      descending,
      nullsFirst,
    }));
    const partition = this.#domainColumns(input).map(({ expression }) => expression);
    const place = input.columns.length;
    const ranked: SqlPlan = {
      kind: "over",
      input,
      functions: [
        {
          ...{ function: { kind: "rank", name: "row_number" }, partition, order, span },
          ...{ type: "int8", nullable: false, frame: { unit: "rows", start: null, end: 0 } },
        },
      ],
      columns: [...input.columns, { name: "place", type: "int8", nullable: false }],
      span,
    };
    const number = columnOf(ranked, place);
    const compared = (operator: "<=" | ">", value: number): PlanExpression => ({
      ...{ kind: "operator", operator, type: "bool", nullable: false, span },
      operands: [number, { kind: "constant", value, type: "int8", nullable: false, span }],
    });
    const last = plan.limit === null ? [] : [compared("<=", plan.offset + plan.limit)];
    const first = plan.offset === 0 ? [] : [compared(">", plan.offset)];
    const kept = [...last, ...first].reduce<SqlPlan>(
      (made, predicate) => ({ kind: "filter", input: made, predicate, columns: made.columns, span }),
      ranked,
    );
    return projected(kept, columnsFrom(kept, 0, place), span);
  }

  #over(plan: Of<"over">): SqlPlan {
    const input = this.answers(plan.input);
    const width = plan.input.columns.length;
    const own = this.#domainColumns(input).map(({ expression }) => expression);
    const functions = plan.functions.map((each) => ({
      ...this.#inside(each, width),
      partition: [...each.partition.map((key) => this.#inside(key, width)), ...own],
    }));
    const added = plan.columns.slice(width);
    const made: SqlPlan = { ...plan, input, functions, columns: [...input.columns, ...added] };
    const first = input.columns.length;
    return reordered(made, [...range(0, width), ...range(first, added.length)], width, this.domain);
  }

  /** A side has the domain if it uses it or decides which rows come out; where both have it, they agree in it. */
  #join(plan: Of<"join">): SqlPlan {
    const { domain } = this;
    const { join, span } = plan;
    const [wl, wr, n] = [plan.left.columns.length, plan.right.columns.length, domain.columns.length];
    const rightToo = join === "right" || join === "full" || looksOut(plan.right);
    const leftToo = join === "left" || join === "full" || looksOut(plan.left) || !rightToo;
    const left = leftToo ? this.answers(plan.left) : plan.left;
    const right = rightToo ? this.answers(plan.right) : plan.right;
    const atRight = left.columns.length;
    const atDomain = leftToo ? wl : atRight + wr;
    const place = (column: Outer) =>
      column.depth > 0
        ? { ...column, depth: 0, index: atDomain + (this.slots.get(column.index) ?? 0) }
        : { ...column, index: column.index < wl ? column.index : column.index - wl + atRight };
    const on = plan.on === null ? [] : [outward(plan.on, place)];
    const both =
      leftToo && rightToo
        ? alikeOf(
            domain.columns.map((_, i) => [columnOf(left, wl + i), columnOf(right, wr + i, atRight)] as const),
            span,
          )
        : null;
    const made = joined(join, left, right, allOf([...on, ...(both === null ? [] : [both])]), span, plan);
    const domainAt = (i: number): PlanExpression => {
      const [one, other] = [columnOf(made, wl + i), columnOf(made, atRight + wr + i)];
      if (!leftToo || join === "right") return other;
      if (join !== "full") return one;
      return { ...one, kind: "call", name: "coalesce", operands: [one, other], nullable: true };
    };
    const outputs = [
      ...columnsFrom(made, 0, wl),
      ...columnsFrom(made, atRight, wr),
      ...range(0, n).map((i) => ({ name: domain.columns[i]?.name ?? "", expression: domainAt(i) })),
    ];
    return projected(made, outputs, span);
  }

  /** An expression over rows that have the columns of the domain behind their first `width` ones. */
  #inside<T>(part: T, width: number): T {
    return outward(part, (column) =>
      column.depth === 0
        ? column
        : { ...column, depth: 0, index: width + (this.slots.get(column.index) ?? 0) },
    );
  }

  #domainColumns(input: SqlPlan): PlanColumn[] {
    return columnsFrom(input, input.columns.length - this.domain.columns.length);
  }
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

function columnOf({ columns, span }: SqlPlan, index: number, shift = 0): PlanExpression {
  const { type = "untyped", nullable = true } = columns[index] ?? {};
  return { kind: "column", index: index + shift, depth: 0, type, nullable, span };
}

function columnsFrom(plan: SqlPlan, first: number, count = plan.columns.length - first): PlanColumn[] {
  return range(first, count).map((index) => ({
    name: plan.columns[index]?.name ?? "",
    expression: columnOf(plan, index),
  }));
}

function projected(input: SqlPlan, outputs: readonly PlanColumn[], span: SqlPlan["span"]): SqlPlan {
  const columns = outputs.map(({ name, expression: { type, nullable } }) => ({ name, type, nullable }));
  return { kind: "project", input, outputs, columns, span };
}

/** The columns at some places, and behind them those of the domain, which begin at `domainAt`. */
function reordered(input: SqlPlan, places: readonly number[], domainAt: number, domain: SqlPlan): SqlPlan {
  const outputs = [...places, ...range(domainAt, domain.columns.length)].flatMap((index) =>
    columnsFrom(input, index, 1),
  );
  return projected(input, outputs, input.span);
}

function joined(
  join: Of<"join">["join"],
  left: SqlPlan,
  right: SqlPlan,
  on: PlanExpression | null,
  span: SqlPlan["span"],
  { isTemporal, asOf }: Pick<Of<"join">, "isTemporal" | "asOf"> = { isTemporal: false, asOf: null },
): SqlPlan {
  const lacking = (columns: Columns, isLacking: boolean) =>
    isLacking ? columns.map((each) => ({ ...each, nullable: true })) : columns;
  const columns = [
    ...lacking(left.columns, join === "right" || join === "full"),
    ...lacking(right.columns, join === "left" || join === "full"),
  ];
  return { kind: "join", join, isTemporal, asOf, left, right, on, columns, span };
}
