import type { Schema } from "../columns/index.js";
import type { Versions } from "../sql/index.js";
import type { Described } from "./describe.js";

/** The columns of streams, tables and queries by name, for queries that read them. */
export function tablesOf(catalog: ReadonlyMap<string, Described>): Readonly<Record<string, Schema>> {
  return Object.fromEntries([...catalog].map(([name, { columns }]) => [name, columns]));
}

/** The streams and tables with event time: FOR SYSTEM_TIME AS OF finds their versions. */
export function versionsOf(catalog: ReadonlyMap<string, Described>): Versions {
  const all: [string, Versions[string]][] = [];
  for (const { name, kind, key, timeColumn } of catalog.values())
    if (timeColumn !== null && (kind === "table" || kind === "stream"))
      all.push([name, { time: timeColumn, key: kind === "table" ? (key ?? []) : [] }]);
  return Object.fromEntries(all);
}
