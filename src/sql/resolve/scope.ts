import type { ColumnName } from "../ast.js";
import type { SqlColumn } from "../schema.js";
import type { Span } from "../source.js";
import { list, senseless, suggestion, unknown } from "./refusals.js";

/** A column that can be named: `index` is its place in the rows that the names are about. */
export interface Visible {
  readonly table: string;
  readonly name: string;
  readonly index: number;
  readonly column: SqlColumn;
  /** Joined by USING: it can be named with its table only, and `*` leaves it out. */
  readonly merged: boolean;
}

/** The names that an expression can use, and around it those of the query that its own query stands in. */
export class Scope {
  readonly text: string;
  readonly visible: readonly Visible[];
  readonly outer: Scope | null;
  /** After GROUP BY: which columns can still be named, and where they are now. */
  readonly #grouped: ReadonlyMap<number, number> | null;

  constructor(
    text: string,
    visible: readonly Visible[],
    outer: Scope | null,
    grouped: ReadonlyMap<number, number> | null = null,
  ) {
    this.text = text;
    this.visible = visible;
    this.outer = outer;
    this.#grouped = grouped;
  }

  grouped(places: ReadonlyMap<number, number>): Scope {
    return new Scope(this.text, this.visible, this.outer, places);
  }

  find(column: ColumnName): { index: number; depth: number; column: SqlColumn } {
    for (let scope: Scope | null = this, depth = 0; scope !== null; scope = scope.outer, depth++) {
      const found = scope.visible.filter(
        ({ table, name, merged }) =>
          name === column.name && (column.table === null ? !merged : table === column.table),
      );
      if (found.length > 1)
        throw unknown(
          this.text,
          column.span,
          `${written(column)} could be ${list(found.map(({ table, name }) => `${table}.${name}`))}. Say which.`,
        );
      const [only] = found;
      if (only !== undefined) return { index: scope.#place(only, column), depth, column: only.column };
    }
    throw unknown(this.text, column.span, this.#missing(column));
  }

  /** The places of the columns that `*` or `t.*` stands for. */
  star(table: string | null, span: Span): Visible[] {
    const found = this.visible.filter((each) => (table === null ? !each.merged : each.table === table));
    if (table !== null && found.length === 0)
      throw unknown(this.text, span, `There is no table ${table} in FROM.`);
    return found;
  }

  #place(found: Visible, column: ColumnName): number {
    if (this.#grouped === null) return found.index;
    const place = this.#grouped.get(found.index);
    if (place === undefined)
      throw senseless(
        this.text,
        column.span,
        `${written(column)} has many values in a group. Add it to GROUP BY, or use it in an aggregate such as max(${written(column)}).`,
      );
    return place;
  }

  #missing(column: ColumnName): string {
    const scopes: Scope[] = [];
    for (let scope: Scope | null = this; scope !== null; scope = scope.outer) scopes.push(scope);
    const all = scopes.flatMap(({ visible }) => visible);
    const tables = [...new Set(all.map(({ table }) => table))];
    if (column.table !== null && !tables.includes(column.table))
      return `There is no table ${column.table} in FROM.${suggestion(column.table, tables)}`;
    const names = all
      .filter(({ table }) => column.table === null || table === column.table)
      .map(({ name }) => name);
    return `There is no column ${written(column)}.${suggestion(column.name, names)}`;
  }
}

function written({ table, name }: ColumnName): string {
  return table === null ? name : `${table}.${name}`;
}
