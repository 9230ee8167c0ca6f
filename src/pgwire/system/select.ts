import type { FuncCall, Node, SelectStmt, SortBy } from "libpg-query";
import type { SqlType } from "../../sql/index.js";
import type { ResultColumn } from "../catalog.js";
import { nameOf, SystemExpressions, typeNameOf } from "./expression.js";
import { From } from "./from.js";
import type { Known } from "./relations.js";
import {
  compare,
  NOTHING,
  type Relationlike,
  refused,
  type SystemSight,
  type SystemValue,
  textOf,
  truth,
} from "./value.js";

type Rows = readonly (readonly SystemValue[])[];

const AGGREGATES = new Set(["count", "max", "min", "string_agg", "array_agg", "bool_or", "bool_and"]);

/** Answers one system query. */
export class Selects {
  readonly #expressions: SystemExpressions;
  readonly #ctes = new Map<string, Relationlike>();

  constructor(
    readonly known: Known,
    parameters: readonly (string | null)[],
  ) {
    this.#expressions = new SystemExpressions(known, parameters, (query, outer) => this.rows(query, outer));
  }

  rows(query: SelectStmt, outer: SystemSight = NOTHING): Rows {
    for (const each of query.withClause?.ctes ?? []) {
      if (!("CommonTableExpr" in each)) continue;
      const { ctename = "", ctequery, aliascolnames } = each.CommonTableExpr;
      if (ctequery === undefined || !("SelectStmt" in ctequery)) throw refused("This WITH");
      this.#ctes.set(ctename, this.relation(ctequery.SelectStmt, outer, (aliascolnames ?? []).map(nameOf)));
    }
    const isCombined = query.op !== undefined && query.op !== "SETOP_NONE";
    const { rows, scopes } = isCombined
      ? { rows: this.#combined(query, outer), scopes: null }
      : this.#selected(query, outer);
    const sorted = this.#sorted(query, rows, scopes);
    const [offset, limit] = [query.limitOffset, query.limitCount].map((node) =>
      node === undefined ? null : this.#expressions.value(node, outer),
    );
    const from = Number(offset ?? 0);
    return limit === null || limit === undefined
      ? sorted.slice(from)
      : sorted.slice(from, from + Number(limit));
  }

  /** The rows of a subquery, by the names of its columns. */
  relation(query: SelectStmt, outer: SystemSight, names: readonly string[] = []): Relationlike {
    const columns = columnsOf(query, this.known).map(({ name }, i) => names[i] ?? name);
    const rows = this.rows(query, outer).map((row) =>
      Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null])),
    );
    return { columns, rows, isOpen: false };
  }

  #selected(
    query: SelectStmt,
    outer: SystemSight,
  ): { readonly rows: Rows; readonly scopes: readonly SystemSight[] | null } {
    if (query.valuesLists !== undefined) {
      const lists = query.valuesLists.map((each) => ("List" in each ? (each.List.items ?? []) : []));
      return {
        rows: lists.map((list) => list.map((each) => this.#expressions.value(each, outer))),
        scopes: null,
      };
    }
    const from = new From(this.known, this.#ctes, this.#expressions, (nested, scope, names) =>
      this.relation(nested, scope, names),
    );
    const scopes = from
      .scopes(query.fromClause ?? [], query.whereClause, outer)
      .filter((scope) => this.#expressions.isTrue(query.whereClause, scope));
    const targets = (query.targetList ?? []).flatMap((each) =>
      "ResTarget" in each ? (each.ResTarget.val ?? []) : [],
    );
    const isGrouped = query.groupClause !== undefined || targets.some(isAggregate);
    if (isGrouped) return { rows: this.#grouped(query, targets, scopes), scopes: null };
    const rows = scopes.map((scope) => targets.flatMap((target) => this.#target(target, scope)));
    return query.distinctClause === undefined ? { rows, scopes } : { rows: distinct(rows), scopes: null };
  }

  #target(target: Node, scope: SystemSight): readonly SystemValue[] {
    const alias = starOf(target);
    if (alias === null) return [this.#expressions.value(target, scope)];
    return scope.sources
      .filter((source) => alias === "" || source.alias === alias)
      .flatMap(({ row, columns }) => columns.map((name) => row[name] ?? null));
  }

  #grouped(query: SelectStmt, targets: readonly Node[], scopes: readonly SystemSight[]): Rows {
    const keys = query.groupClause ?? [];
    const groups = new Map<string, SystemSight[]>();
    if (keys.length === 0) groups.set("[]", []);
    for (const scope of scopes) {
      const key = JSON.stringify(
        keys.map((each) => this.#expressions.value(byPosition(each, targets), scope)),
      );
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(scope);
    }
    return [...groups.values()].map((group) => targets.map((target) => this.#aggregated(target, group)));
  }

  #aggregated(target: Node, group: readonly SystemSight[]): SystemValue {
    if (!isAggregate(target)) return this.#expressions.value(target, group[0] ?? NOTHING);
    if ("TypeCast" in target) return this.#aggregated(target.TypeCast.arg as Node, group);
    const { funcname = [], args = [], agg_star } = (target as { FuncCall: FuncCall }).FuncCall;
    const name = nameOf(funcname.at(-1));
    if (agg_star === true) return group.length;
    const values = group
      .map((scope) => this.#expressions.value(args[0], scope))
      .filter((value) => value !== null);
    switch (name) {
      case "count":
        return values.length;
      case "max":
      case "min":
        return values.reduce<SystemValue>((best, value) => {
          const order = best === null ? 1 : (compare(value, best) ?? 0);
          return best === null || (name === "max" ? order > 0 : order < 0) ? value : best;
        }, null);
      case "string_agg": {
        const separator = textOf(this.#expressions.value(args[1], group[0] ?? NOTHING)) ?? "";
        return values.length === 0 ? null : values.map(textOf).join(separator);
      }
      case "array_agg":
        return values.length === 0 ? null : values;
      case "bool_or":
        return values.length === 0 ? null : values.some(truth);
      default:
        return values.length === 0 ? null : values.every(truth);
    }
  }

  #combined({ op, all, larg, rarg }: SelectStmt, outer: SystemSight): Rows {
    const [left, right] = [larg, rarg].map((side) => (side === undefined ? [] : this.rows(side, outer)));
    if (op === "SETOP_UNION") {
      const both = [...(left ?? []), ...(right ?? [])];
      return all === true ? both : distinct(both);
    }
    const others = new Set((right ?? []).map((row) => JSON.stringify(row)));
    return distinct(left ?? []).filter(
      (row) => others.has(JSON.stringify(row)) === (op === "SETOP_INTERSECT"),
    );
  }

  #sorted(query: SelectStmt, rows: Rows, scopes: readonly SystemSight[] | null): Rows {
    const keys = (query.sortClause ?? []).flatMap((each) => ("SortBy" in each ? [each.SortBy] : []));
    if (keys.length === 0) return rows;
    const columns = columnsOf(query, this.known);
    const sortValue = ({ node }: SortBy, at: number): SystemValue => {
      const constant = node !== undefined && "A_Const" in node ? node.A_Const.ival?.ival : undefined;
      if (constant !== undefined) return rows[at]?.[constant - 1] ?? null;
      const fields = node !== undefined && "ColumnRef" in node ? (node.ColumnRef.fields ?? []) : [];
      const named = fields.length === 1 ? columns.findIndex(({ name }) => name === nameOf(fields[0])) : -1;
      if (named >= 0) return rows[at]?.[named] ?? null;
      return this.#expressions.value(node, scopes?.[at] ?? NOTHING);
    };
    const ordered = rows.map((row, at) => ({ row, by: keys.map((key) => sortValue(key, at)) }));
    ordered.sort((a, b) => {
      for (const [i, { sortby_dir, sortby_nulls }] of keys.entries()) {
        const [left, right] = [a.by[i] ?? null, b.by[i] ?? null];
        const isDown = sortby_dir === "SORTBY_DESC";
        const nullsFirst =
          sortby_nulls === "SORTBY_NULLS_FIRST" || (isDown && sortby_nulls !== "SORTBY_NULLS_LAST");
        if (left === null || right === null) {
          if (left === right) continue;
          return (left === null) === nullsFirst ? -1 : 1;
        }
        const order = compare(left, right) ?? 0;
        if (order !== 0) return isDown ? -order : order;
      }
      return 0;
    });
    return ordered.map(({ row }) => row);
  }
}

function distinct(rows: Rows): Rows {
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

function byPosition(node: Node, targets: readonly Node[]): Node {
  const place = "A_Const" in node ? node.A_Const.ival?.ival : undefined;
  return (place === undefined ? undefined : targets[place - 1]) ?? node;
}

function isAggregate(node: Node): boolean {
  if ("TypeCast" in node) return node.TypeCast.arg !== undefined && isAggregate(node.TypeCast.arg);
  return "FuncCall" in node && AGGREGATES.has(nameOf(node.FuncCall.funcname?.at(-1)));
}

/** `*` is "", `t.*` is "t", and anything else is `null`. */
function starOf(node: Node): string | null {
  const fields = "ColumnRef" in node ? (node.ColumnRef.fields ?? []) : [];
  const last = fields.at(-1);
  return last !== undefined && "A_Star" in last ? nameOf(fields.at(-2)) : null;
}

const TRUTHS =
  /^(is_|has_|pg_.*_is_|rel(has|is|row|force)|att(notnull|hasdef|isdropped)|indis|con(def|val)|rol(super|can|cre|inh|rep|byp))/;
const NUMBERS =
  /^(oid|attnum|attrelid|atttypid|atttypmod|attlen|ordinal_position|rel(natts|checks|namespace|owner|tablespace)|typlen)$/;

/** The columns that come out, by the names that PostgreSQL would give them. */
export function columnsOf(query: SelectStmt, known: Known): ResultColumn[] {
  if (query.op !== undefined && query.op !== "SETOP_NONE" && query.larg !== undefined)
    return columnsOf(query.larg, known);
  const [values] = query.valuesLists ?? [];
  if (values !== undefined && "List" in values)
    return (values.List.items ?? []).map((_, i) => ({ name: `column${i + 1}`, type: "text" }));
  return (query.targetList ?? []).flatMap((each): ResultColumn[] => {
    if (!("ResTarget" in each) || each.ResTarget.val === undefined) return [];
    const { name, val } = each.ResTarget;
    const alias = starOf(val);
    if (alias !== null)
      return From.columns(query.fromClause ?? [], alias, known).map((column) => ({
        name: column,
        type: guessed(column),
      }));
    return [{ name: name ?? figured(val), type: typeOf(val) }];
  });
}

function guessed(column: string): SqlType {
  return TRUTHS.test(column) ? "bool" : NUMBERS.test(column) ? "int8" : "text";
}

function typeOf(node: Node): SqlType {
  if ("ColumnRef" in node) return guessed(nameOf(node.ColumnRef.fields?.at(-1)));
  if ("A_Const" in node)
    return node.A_Const.ival !== undefined ? "int4" : node.A_Const.boolval !== undefined ? "bool" : "text";
  if ("BoolExpr" in node || "NullTest" in node) return "bool";
  if ("FuncCall" in node) {
    const name = nameOf(node.FuncCall.funcname?.at(-1));
    return name === "count" ? "int8" : guessed(name);
  }
  if ("TypeCast" in node) {
    const name = typeNameOf(node.TypeCast.typeName);
    return name === "bool" ? "bool" : /^(int\d|oid)$/.test(name) ? "int8" : "text";
  }
  return "text";
}

function figured(node: Node): string {
  if ("ColumnRef" in node) return nameOf(node.ColumnRef.fields?.at(-1));
  if ("FuncCall" in node) return nameOf(node.FuncCall.funcname?.at(-1));
  if ("TypeCast" in node && node.TypeCast.arg !== undefined) {
    const inside = figured(node.TypeCast.arg);
    return inside === "?column?" ? typeNameOf(node.TypeCast.typeName) : inside;
  }
  if ("CollateClause" in node && node.CollateClause.arg !== undefined) return figured(node.CollateClause.arg);
  if ("CaseExpr" in node) return "case";
  if ("CoalesceExpr" in node) return "coalesce";
  if ("SQLValueFunction" in node) return (node.SQLValueFunction.op ?? "").replace("SVFOP_", "").toLowerCase();
  if ("SubLink" in node) {
    if (node.SubLink.subLinkType === "EXISTS_SUBLINK") return "exists";
    if (node.SubLink.subLinkType === "ARRAY_SUBLINK") return "array";
    const inside = node.SubLink.subselect;
    const [target] =
      inside !== undefined && "SelectStmt" in inside ? (inside.SelectStmt.targetList ?? []) : [];
    if (target !== undefined && "ResTarget" in target && target.ResTarget.val !== undefined)
      return target.ResTarget.name ?? figured(target.ResTarget.val);
  }
  return "?column?";
}
