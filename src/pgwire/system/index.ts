/**
 * What clients ask about the database itself: `\d` of psql, the table lists of Grafana and of graphical tools. These are queries over
 * `pg_catalog` and `information_schema`, written for PostgreSQL's own types (oids, arrays, regclass) and functions. They are answered
 * here by a small evaluator without static types, over rows that are made of the relations a reader has. Catalogs of which there is
 * nothing to tell (policies, triggers, publications) are empty and have every column.
 */

export { introspective } from "./introspective.js";
export type { SystemRelation } from "./relations.js";
