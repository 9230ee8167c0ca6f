import type { Schema } from "../columns/index.js";
import type { Described } from "./describe.js";

/** The columns of streams, tables and queries by name, for queries that read them. */
export function tablesOf(catalog: ReadonlyMap<string, Described>): Readonly<Record<string, Schema>> {
  return Object.fromEntries([...catalog].map(([name, { columns }]) => [name, columns]));
}
