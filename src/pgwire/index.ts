/**
 * The PostgreSQL wire protocol (version 3), server side and read-only: what `psql`, Grafana and the usual drivers speak.
 * `server.ts` accepts connections, `connection.ts` is one of them from startup to end, `session.ts` the queries of a
 * signed-in client. Which relations there are, and what a query over them answers, is the `Catalog`'s business: this
 * room knows neither streams nor contexts.
 */

export type { Catalog, CatalogReader, DescribedQuery, Result, ResultColumn } from "./catalog.js";
export { type PgServer, type PgServerOptions, servePostgres } from "./server.js";
export type { SystemRelation } from "./system/index.js";
