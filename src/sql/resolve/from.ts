import type { ColumnName, FromItem, WindowClause } from "../ast.js";
import type { LogicalPlan, PlanColumn, PlanExpression } from "../plan.js";
import type { SqlColumn } from "../schema.js";
import type { Span } from "../source.js";
import { showType } from "../types.js";
import { resolveExpression } from "./expression.js";
import { typedOperator } from "./operator.js";
import type { Named, Resolver } from "./query.js";
import { refusal, senseless, suggestion, unknown } from "./refusals.js";
import { Scope, type Visible } from "./scope.js";

interface Source {
  readonly plan: LogicalPlan;
  readonly visible: readonly Visible[];
}

export function resolveFrom(
  resolver: Resolver,
  from: FromItem | null,
  outer: Scope | null,
  named: Named | null,
  span: Span,
): Source {
  if (from === null) return { plan: { kind: "unit", columns: [], span }, visible: [] };
  return fromItem(resolver, from, outer, named);
}

function fromItem(resolver: Resolver, from: FromItem, outer: Scope | null, named: Named | null): Source {
  switch (from.kind) {
    case "table":
      if (from.version !== null)
        throw refusal(
          resolver.text,
          from.span,
          "FOR SYSTEM_TIME AS OF stands behind the table on the right side of JOIN or LEFT JOIN.",
        );
      return visibleAs(table(resolver, from.name, from.span, named), from.alias ?? from.name);
    case "subquery": {
      const plan = resolver.query(from.query, outer, named);
      return visibleAs(renamed(resolver, plan, from.columns, from.span), from.alias ?? "");
    }
    case "window":
      return window(resolver, from, named);
    case "join":
      return join(resolver, from, outer, named);
  }
}

function visibleAs(plan: LogicalPlan, table: string): Source {
  return {
    plan,
    visible: plan.columns.map((column, index) => ({
      table,
      name: column.name,
      index,
      column,
      merged: false,
    })),
  };
}

function table(resolver: Resolver, name: string, span: Span, named: Named | null): LogicalPlan {
  for (let each = named; each !== null; each = each.before) {
    if (each.name !== name) continue;
    resolver.nextScan(span);
    // It may be used deeper than it was written, where other columns have its names; so it can use none from outside.
    return renamed(resolver, resolver.query(each.query, null, each.before), each.columns, span);
  }
  const columns = Object.hasOwn(resolver.tables, name) ? resolver.tables[name] : undefined;
  if (columns === undefined) {
    const known = Object.keys(resolver.tables);
    throw unknown(resolver.text, span, `There is no table ${name}.${suggestion(name, known)}`);
  }
  resolver.scanned.add(name);
  return { kind: "scan", scan: resolver.nextScan(span), table: name, columns, span };
}

function renamed(resolver: Resolver, plan: LogicalPlan, names: readonly string[], span: Span): LogicalPlan {
  if (names.length === 0) return plan;
  if (names.length > plan.columns.length)
    throw senseless(
      resolver.text,
      span,
      `There are ${names.length} names for ${plan.columns.length} columns.`,
    );
  return {
    ...plan,
    columns: plan.columns.map((column, i) => ({ ...column, name: names[i] ?? column.name })),
  };
}

function window(
  resolver: Resolver,
  from: Extract<FromItem, { kind: "window" }>,
  named: Named | null,
): Source {
  const input = table(resolver, from.table, from.tableSpan, named);
  const scope = new Scope(resolver.text, visibleAs(input, from.table).visible, null);
  const taken = ["window_start", "window_end"].find((end) => input.columns.some(({ name }) => name === end));
  if (taken !== undefined)
    throw senseless(resolver.text, from.span, `${from.table} has a column ${taken} already.`);
  const keys = from.keys.map((key) => scope.find(key).index);
  return visibleAs(windowed(resolver, input, scope, from, keys), from.alias ?? from.table);
}

/** The rows with the bounds of their windows behind their columns. */
export function windowed(
  { text }: Resolver,
  input: LogicalPlan,
  scope: Scope,
  { clause, span }: { readonly clause: WindowClause; readonly span: Span },
  keys: readonly number[],
): LogicalPlan {
  const { index: time, depth, column } = scope.find(clause.time);
  if (depth > 0 || !["timestamp", "timestamptz", "date", "untyped"].includes(column.type))
    throw senseless(
      text,
      clause.time.span,
      depth > 0
        ? `${column.name} is a column of the query around this one; a window is about a column of its own query.`
        : `${column.name} is no time: it is of type ${showType(column.type)}.`,
    );
  // A row without a time is in no window.
  const end = { type: column.type === "date" ? ("timestamp" as const) : column.type, nullable: false };
  const { window, sizeMs, slideMs, offsetMs } = clause;
  return {
    ...{ kind: "window", window, input, time, sizeMs, slideMs, offsetMs, keys, span },
    columns: [...input.columns, { name: "window_start", ...end }, { name: "window_end", ...end }],
  };
}

function join(
  resolver: Resolver,
  from: Extract<FromItem, { kind: "join" }>,
  outer: Scope | null,
  named: Named | null,
): Source {
  const left = fromItem(resolver, from.left, outer, named);
  const version =
    from.right.kind === "table" && (from.join === "inner" || from.join === "left")
      ? from.right.version
      : null;
  const isTemporal = version !== null;
  const asOf = version === null || version === "now" ? null : timeOf(resolver, left, version);
  const right = fromItem(
    resolver,
    isTemporal && from.right.kind === "table" ? { ...from.right, version: null } : from.right,
    outer,
    named,
  );
  const tables = new Set(left.visible.map(({ table }) => table));
  const twice = right.visible.find(({ table }) => table !== "" && tables.has(table));
  if (twice !== undefined)
    throw unknown(
      resolver.text,
      from.right.span,
      `There are two tables ${twice.table} in FROM. Give one an alias.`,
    );
  const shift = left.plan.columns.length;
  const sides = sidesOf(from.join, left.plan, right.plan);
  const moved = right.visible.map((each) => ({ ...each, index: each.index + shift }));
  const using = from.using === "natural" ? sharedNames(left.visible, right.visible) : from.using;
  const pairs = using.map((name) =>
    [left.visible, moved].map((side) => columnNamed(resolver.text, side, name, from.span)),
  );
  const equalities = pairs.map((operands) =>
    typedOperator(resolver.typing, resolver.text, "=", operands, from.span),
  );
  const isMerged = ({ name }: Visible) => using.includes(name);
  const both = [
    // As in PostgreSQL, they are the first that `*` gives.
    ...using.flatMap((name) => left.visible.filter((each) => each.name === name && !each.merged)),
    ...left.visible.filter((each) => !isMerged(each) || each.merged),
    ...moved.map((each) => (isMerged(each) ? { ...each, merged: true } : each)),
  ];
  const place = { scope: new Scope(resolver.text, both, outer), grouping: null, overs: null };
  const on =
    from.on === null
      ? []
      : [resolver.typing.truth(resolveExpression(resolver.context(named), from.on, place), "ON")];
  const plan: LogicalPlan = {
    kind: "join",
    join: from.join,
    isTemporal,
    asOf,
    left: left.plan,
    right: right.plan,
    on: allOf([...equalities, ...on]),
    columns: sides,
    span: from.span,
  };
  const visible = both.map((each) => ({ ...each, column: sides[each.index] ?? each.column }));
  if (using.length === 0 || from.join === "inner" || from.join === "left") return { plan, visible };
  return withMerged(resolver, plan, visible, using, pairs);
}

/** The names that both sides have, each once on its side. */
function sharedNames(left: readonly Visible[], right: readonly Visible[]): string[] {
  const namesOf = (side: readonly Visible[]) => side.flatMap(({ name, merged }) => (merged ? [] : [name]));
  const others = namesOf(right);
  return [...new Set(namesOf(left).filter((name) => others.includes(name)))];
}

/** USING where the left side can lack a row: the column without the name of a table is that of the side that has one. */
function withMerged(
  { typing }: Resolver,
  plan: LogicalPlan,
  visible: readonly Visible[],
  using: readonly string[],
  pairs: readonly (readonly PlanExpression[])[],
): Source {
  const { span } = plan;
  const own = plan.columns.map(({ name, type, nullable }, index): PlanColumn => {
    return { name, expression: { kind: "column", index, depth: 0, type, nullable, span } };
  });
  const merged = using.map((name, i): PlanColumn => {
    const sides = (pairs[i] ?? []).map((each): PlanExpression => ({ ...each, nullable: true }));
    const operands = typing.alike(sides, "USING");
    const type = operands[0]?.type ?? "text";
    return { name, expression: { kind: "call", name: "coalesce", operands, type, nullable: true, span } };
  });
  const outputs = [...own, ...merged];
  const columns = outputs.map(({ name, expression: { type, nullable } }) => ({ name, type, nullable }));
  const first = merged.map(({ name }, i): Visible => {
    const index = own.length + i;
    return {
      table: "",
      name,
      index,
      column: columns[index] ?? { name, type: "text", nullable: true },
      merged: false,
    };
  });
  const rest = visible.map((each) => (using.includes(each.name) ? { ...each, merged: true } : each));
  return { plan: { kind: "project", input: plan, outputs, columns, span }, visible: [...first, ...rest] };
}

/** The column of the left side that says which version of the table a row meets. */
function timeOf(resolver: Resolver, { visible }: Source, name: ColumnName) {
  const { index, column } = new Scope(resolver.text, visible, null).find(name);
  if (!["timestamp", "timestamptz", "untyped"].includes(column.type))
    throw senseless(
      resolver.text,
      name.span,
      `FOR SYSTEM_TIME AS OF takes a time, and ${column.name} is of type ${showType(column.type)}.`,
    );
  return { index, span: name.span };
}

/** The columns of both sides; those of a side that may have no match can be NULL. */
function sidesOf(
  join: "inner" | "left" | "right" | "full",
  left: LogicalPlan,
  right: LogicalPlan,
): SqlColumn[] {
  const lacking = (columns: readonly SqlColumn[]) => columns.map((each) => ({ ...each, nullable: true }));
  return [
    ...(join === "right" || join === "full" ? lacking(left.columns) : left.columns),
    ...(join === "left" || join === "full" ? lacking(right.columns) : right.columns),
  ];
}

function columnNamed(text: string, side: readonly Visible[], name: string, span: Span): PlanExpression {
  const written: ColumnName & { span: Span } = { kind: "column", table: null, name, span };
  const { index, depth, column } = new Scope(text, side, null).find(written);
  return { kind: "column", index, depth, type: column.type, nullable: column.nullable, span };
}

function allOf(conditions: readonly PlanExpression[]): PlanExpression | null {
  const [first] = conditions;
  if (first === undefined || conditions.length === 1) return first ?? null;
  const nullable = conditions.some((each) => each.nullable);
  return {
    kind: "operator",
    operator: "and",
    operands: conditions,
    type: "bool",
    nullable,
    span: first.span,
  };
}
