import type { JoinExpr, Node, RangeFunction, RangeVar, SelectStmt } from "libpg-query";
import { listOf, nameOf, type SystemExpressions } from "./expression.js";
import { call } from "./functions.js";
import type { Known } from "./relations.js";
import { type Relationlike, refused, type SystemSight, type SystemValue, textOf } from "./value.js";

type Source = SystemSight["sources"][number];
type Nested = (query: SelectStmt, outer: SystemSight, names: readonly string[]) => Relationlike;

/**
 * The rows that FROM gives. Relations are joined one after the other; where a column of the next must be equal to what is known
 * already, its rows are found by that column.
 */
export class From {
  readonly #indexes = new Map<
    Relationlike,
    Map<string, Map<string, Readonly<Record<string, SystemValue>>[]>>
  >();

  constructor(
    readonly known: Known,
    readonly ctes: ReadonlyMap<string, Relationlike>,
    readonly expressions: SystemExpressions,
    readonly nested: Nested,
  ) {}

  scopes(items: readonly Node[], where: Node | undefined, outer: SystemSight): readonly SystemSight[] {
    const conditions = conjunctsOf(where);
    return items.reduce<readonly SystemSight[]>(
      (scopes, item) => scopes.flatMap((scope) => this.#joined(item, scope, conditions)),
      [{ sources: [], outer }],
    );
  }

  #joined(item: Node, scope: SystemSight, conditions: readonly Node[]): readonly SystemSight[] {
    this.expressions.step();
    if ("JoinExpr" in item) return this.#join(item.JoinExpr, scope, conditions);
    const { alias, relation } = this.#relation(item, scope);
    return this.#candidates(relation, alias, scope, conditions).map((row) =>
      withSource(scope, { alias, row, isOpen: relation.isOpen, columns: relation.columns }),
    );
  }

  #join(
    { jointype, larg, rarg, quals, usingClause }: JoinExpr,
    scope: SystemSight,
    outside: readonly Node[],
  ): readonly SystemSight[] {
    if (larg === undefined || rarg === undefined) throw refused("This join");
    if (jointype === "JOIN_RIGHT" || jointype === "JOIN_FULL") throw refused("A RIGHT or FULL JOIN");
    const using = (usingClause ?? []).map(nameOf);
    const conditions = [...conjunctsOf(quals), ...(jointype === "JOIN_LEFT" ? [] : outside)];
    return this.#joined(larg, scope, outside).flatMap((left) => {
      const met = this.#joined(rarg, left, conditions).filter(
        (both) => this.expressions.isTrue(quals, both) && using.every((name) => agree(both, name)),
      );
      if (met.length > 0 || jointype !== "JOIN_LEFT") return met;
      const lacking = this.#aliases(rarg).map(
        (alias): Source => ({ alias, row: {}, isOpen: true, columns: [] }),
      );
      return [lacking.reduce(withSource, left)];
    });
  }

  /** The rows of a relation that can meet what the scope has. */
  #candidates(
    relation: Relationlike,
    alias: string,
    scope: SystemSight,
    conditions: readonly Node[],
  ): readonly Readonly<Record<string, SystemValue>>[] {
    for (const condition of conditions) {
      const equal = equalTo(condition, alias, relation.columns);
      if (equal === null || !isKnown(equal.value, scope)) continue;
      const value = this.expressions.value(equal.value, scope);
      return this.#index(relation, equal.column).get(textOf(value) ?? "") ?? [];
    }
    return relation.rows;
  }

  #index(relation: Relationlike, column: string): Map<string, Readonly<Record<string, SystemValue>>[]> {
    const indexes = this.#indexes.get(relation) ?? new Map();
    this.#indexes.set(relation, indexes);
    const known = indexes.get(column);
    if (known !== undefined) return known;
    const index = new Map<string, Readonly<Record<string, SystemValue>>[]>();
    for (const row of relation.rows) {
      const key = textOf(row[column] ?? null) ?? "";
      const rows = index.get(key) ?? [];
      index.set(key, rows);
      rows.push(row);
    }
    indexes.set(column, index);
    return index;
  }

  #relation(item: Node, scope: SystemSight): { readonly alias: string; readonly relation: Relationlike } {
    if ("RangeVar" in item) {
      const { relname = "", alias } = item.RangeVar;
      return {
        alias: alias?.aliasname ?? relname,
        relation: relationOf(item.RangeVar, this.known, this.ctes),
      };
    }
    if ("RangeSubselect" in item) {
      const { subquery, alias } = item.RangeSubselect;
      if (subquery === undefined || !("SelectStmt" in subquery)) throw refused("This subquery");
      const relation = this.nested(subquery.SelectStmt, scope, (alias?.colnames ?? []).map(nameOf));
      return { alias: alias?.aliasname ?? "", relation };
    }
    if ("RangeFunction" in item) return this.#function(item.RangeFunction, scope);
    throw refused("This part of FROM");
  }

  #function({ functions = [], alias, ordinality }: RangeFunction, scope: SystemSight) {
    const [list] = functions;
    const [called] = list !== undefined && "List" in list ? (list.List.items ?? []) : [];
    if (called === undefined || !("FuncCall" in called)) throw refused("This function in FROM");
    const name = nameOf(called.FuncCall.funcname?.at(-1));
    const args = (called.FuncCall.args ?? []).map((each) => this.expressions.value(each, scope));
    const shown = alias?.aliasname ?? name;
    const [column = shown, place = "ordinality"] = (alias?.colnames ?? []).map(nameOf);
    const rows = this.#values(name, args).map((value, i) => ({
      [column]: value,
      ...(ordinality === true ? { [place]: i + 1 } : {}),
    }));
    const columns = ordinality === true ? [column, place] : [column];
    return { alias: shown, relation: { rows, columns, isOpen: rows.length === 0 } };
  }

  #values(name: string, args: readonly SystemValue[]): readonly SystemValue[] {
    const [first = null, second = null] = args;
    if (name === "unnest") return first === null ? [] : (listOf(first) ?? []);
    if (name === "generate_series" || name === "generate_subscripts") {
      const isSeries = name === "generate_series";
      const [from, to] = isSeries
        ? [Number(first), second === null ? -1 : Number(second)]
        : [1, listOf(first)?.length ?? 0];
      return Array.from({ length: Math.max(0, Math.min(to - from + 1, 10_000)) }, (_, i) => from + i);
    }
    return [call(name, this.known, args)];
  }

  #aliases(item: Node): readonly string[] {
    if ("JoinExpr" in item)
      return [item.JoinExpr.larg, item.JoinExpr.rarg].flatMap((side) =>
        side === undefined ? [] : this.#aliases(side),
      );
    if ("RangeVar" in item) return [item.RangeVar.alias?.aliasname ?? item.RangeVar.relname ?? ""];
    if ("RangeSubselect" in item) return [item.RangeSubselect.alias?.aliasname ?? ""];
    return "RangeFunction" in item ? [item.RangeFunction.alias?.aliasname ?? ""] : [];
  }

  /** The columns that `*` stands for. */
  static columns(items: readonly Node[], alias: string, known: Known): readonly string[] {
    return items.flatMap((item): readonly string[] => {
      if ("JoinExpr" in item) {
        const { larg, rarg } = item.JoinExpr;
        return From.columns(
          [larg, rarg].flatMap((side) => side ?? []),
          alias,
          known,
        );
      }
      if (!("RangeVar" in item)) return [];
      const shown = item.RangeVar.alias?.aliasname ?? item.RangeVar.relname;
      return alias !== "" && alias !== shown ? [] : relationOf(item.RangeVar, known, new Map()).columns;
    });
  }
}

const EMPTY: Relationlike = { columns: [], rows: [], isOpen: true };

/** Catalogs that are not there have nothing to tell. */
function relationOf(
  { schemaname, relname = "" }: RangeVar,
  { tables }: Known,
  ctes: ReadonlyMap<string, Relationlike>,
): Relationlike {
  if (schemaname === undefined) return ctes.get(relname) ?? tables.get(`pg_catalog.${relname}`) ?? EMPTY;
  return tables.get(`${schemaname}.${relname}`) ?? EMPTY;
}

function withSource(scope: SystemSight, source: Source): SystemSight {
  return { sources: [...scope.sources, source], outer: scope.outer };
}

function agree({ sources }: SystemSight, column: string): boolean {
  const values = sources.flatMap(({ row }) =>
    Object.hasOwn(row, column) ? [textOf(row[column] ?? null)] : [],
  );
  return values.length > 1 && values.every((value) => value !== null && value === values[0]);
}

function conjunctsOf(node: Node | undefined): readonly Node[] {
  if (node === undefined) return [];
  if ("BoolExpr" in node && (node.BoolExpr.boolop ?? "AND_EXPR") === "AND_EXPR")
    return (node.BoolExpr.args ?? []).flatMap(conjunctsOf);
  return [node];
}

/** `alias.column = value`, either way round. */
function equalTo(
  node: Node,
  alias: string,
  columns: readonly string[],
): { readonly column: string; readonly value: Node } | null {
  if (
    !("A_Expr" in node) ||
    (node.A_Expr.kind ?? "AEXPR_OP") !== "AEXPR_OP" ||
    nameOf(node.A_Expr.name?.at(-1)) !== "="
  )
    return null;
  const { lexpr, rexpr } = node.A_Expr;
  for (const [side, value] of [
    [lexpr, rexpr],
    [rexpr, lexpr],
  ]) {
    const names = side !== undefined && "ColumnRef" in side ? (side.ColumnRef.fields ?? []).map(nameOf) : [];
    const [of, column] = names;
    if (
      value !== undefined &&
      names.length === 2 &&
      of === alias &&
      column !== undefined &&
      columns.includes(column)
    )
      return { column, value };
  }
  return null;
}

/** Is it a constant, or a column of a relation that is joined already? */
function isKnown(node: Node, { sources }: SystemSight): boolean {
  if ("A_Const" in node) return true;
  const fields = "ColumnRef" in node ? (node.ColumnRef.fields ?? []).map(nameOf) : [];
  return fields.length === 2 && sources.some(({ alias }) => alias === fields[0]);
}
