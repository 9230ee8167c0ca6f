/**
 * Streams and standing queries as a context of a program (`headwater/queries`): a push is part of the event that makes it, results
 * are handed to a method in the same event, and views are read as of a ticket. `README.md` says why it is built so.
 */
import "../../state/tracked-fields.js"; // makes what `tracked` and `owned` declare
import { loadParser } from "../../sql/index.js";

export { type Columns, column, type RowIn, type RowOf } from "./columns.js";
export { type Definitions, query, stream, table, view } from "./definitions.js";
export type { Followed } from "./follow.js";
export type { Changes, ReadRange } from "./methods.js";
export { Queries, type QueriesClass, QueriesContext } from "./queries.js";
export type { RowChange } from "./rows.js";

// Definitions are checked when a class is declared, which cannot wait for the parser to be compiled.
await loadParser();
