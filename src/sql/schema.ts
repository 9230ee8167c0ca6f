import type { SqlType } from "./types.js";

/** A column of a table or of a relation in a plan. */
export interface SqlColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
}

/** A column as it is declared: by its name alone, it is untyped and may be NULL. */
export type ColumnDefinition =
  | string
  | { readonly name: string; readonly type?: SqlType; readonly nullable?: boolean };

/** The tables that a query may read, by name. */
export type SqlSchema = Readonly<Record<string, readonly ColumnDefinition[]>>;

export function columnOf(definition: ColumnDefinition): SqlColumn {
  if (typeof definition === "string") return { name: definition, type: "untyped", nullable: true };
  return { name: definition.name, type: definition.type ?? "untyped", nullable: definition.nullable ?? true };
}
