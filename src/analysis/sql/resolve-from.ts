import type { FromItem } from "./ast.js";
import type { Plan, PlanExpression } from "./plan.js";
import type { Named, Resolver } from "./resolve.js";
import { resolveExpression } from "./resolve-expression.js";
import { Scope, senseless, suggestion, unknown, type Visible } from "./scope.js";
import type { Span } from "./source.js";

interface Source {
  readonly plan: Plan;
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

function visibleAs(plan: Plan, table: string): Source {
  return { plan, visible: plan.columns.map((name, index) => ({ table, name, index, merged: false })) };
}

function table(resolver: Resolver, name: string, span: Span, named: Named | null): Plan {
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

function renamed(resolver: Resolver, plan: Plan, names: readonly string[], span: Span): Plan {
  if (names.length === 0) return plan;
  if (names.length > plan.columns.length)
    throw senseless(
      resolver.text,
      span,
      `There are ${names.length} names for ${plan.columns.length} columns.`,
    );
  return { ...plan, columns: plan.columns.map((column, i) => names[i] ?? column) };
}

function window(
  resolver: Resolver,
  from: Extract<FromItem, { kind: "window" }>,
  named: Named | null,
): Source {
  const input = table(resolver, from.table, from.tableSpan, named);
  const scope = new Scope(resolver.text, visibleAs(input, from.table).visible, null);
  const taken = ["window_start", "window_end"].find((name) => input.columns.includes(name));
  if (taken !== undefined)
    throw senseless(resolver.text, from.span, `${from.table} has a column ${taken} already.`);
  const plan: Plan = {
    kind: "window",
    window: from.window,
    input,
    time: scope.find(from.time).index,
    sizeMs: from.sizeMs,
    slideMs: from.slideMs,
    keys: from.keys.map((key) => scope.find(key).index),
    columns: [...input.columns, "window_start", "window_end"],
    span: from.span,
  };
  return visibleAs(plan, from.alias ?? from.table);
}

function join(
  resolver: Resolver,
  from: Extract<FromItem, { kind: "join" }>,
  outer: Scope | null,
  named: Named | null,
): Source {
  const left = fromItem(resolver, from.left, outer, named);
  const right = fromItem(resolver, from.right, outer, named);
  const tables = new Set(left.visible.map(({ table }) => table));
  const twice = right.visible.find(({ table }) => table !== "" && tables.has(table));
  if (twice !== undefined)
    throw unknown(
      resolver.text,
      from.right.span,
      `There are two tables ${twice.table} in FROM. Give one an alias.`,
    );
  const shift = left.plan.columns.length;
  const moved = right.visible.map((each) => ({ ...each, index: each.index + shift }));
  const equalities = from.using.map((name): PlanExpression => {
    const operands = [left.visible, moved].map((side): PlanExpression => {
      const place = new Scope(resolver.text, side, null).find({
        kind: "column",
        table: null,
        name,
        span: from.span,
      });
      return { kind: "column", ...place, span: from.span };
    });
    return { kind: "operator", operator: "=", operands, span: from.span };
  });
  const visible = [
    ...left.visible,
    ...moved.map((each) => (from.using.includes(each.name) ? { ...each, merged: true } : each)),
  ];
  const scope = new Scope(resolver.text, visible, outer);
  const on = from.on === null ? [] : [resolveExpression(resolver.context(named), from.on, scope, null)];
  const conditions = [...equalities, ...on];
  const [first] = conditions;
  const condition: PlanExpression | null =
    first === undefined || conditions.length === 1
      ? (first ?? null)
      : { kind: "operator", operator: "and", operands: conditions, span: first.span };
  const columns = [...left.plan.columns, ...right.plan.columns];
  const plan: Plan = {
    kind: "join",
    join: from.join,
    left: left.plan,
    right: right.plan,
    on: condition,
    columns,
    span: from.span,
  };
  return { plan, visible };
}
