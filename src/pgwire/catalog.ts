import type { SqlType } from "../sql/index.js";
import type { SystemRelation } from "./system/index.js";

/** Who may sign in, and what a client may read then. */
export interface Catalog {
  /** The reader of a user, or null if user and password do not belong together. Says nothing about why. */
  signIn(credentials: Credentials): Promise<CatalogReader | null>;
}

export interface Credentials {
  readonly user: string;
  readonly database: string;
  readonly password: string;
}

export interface ResultColumn {
  readonly name: string;
  readonly type: SqlType;
}

export interface DescribedQuery {
  readonly columns: readonly ResultColumn[];
  /** The types of `$1`, `$2` and so on. */
  readonly parameters: readonly SqlType[];
}

export interface Result {
  readonly columns: readonly ResultColumn[];
  /** Values in PostgreSQL's text form. */
  readonly rows: Iterable<readonly (string | null)[]>;
}

/** What one signed-in client can ask. Errors of queries are `HeadwaterError`s; the client gets their code and message. */
export interface CatalogReader {
  describe(sql: string): Promise<DescribedQuery>;
  /** `parameters` are in PostgreSQL's text form. */
  read(sql: string, parameters: readonly (string | null)[]): Promise<Result>;
  /** The tables and views that the client sees in `\\d` and in the system catalog; none if it is not there. */
  relations?(): Promise<readonly SystemRelation[]>;
  /** The reader may not be used any more, because its token was revoked or has expired: the connection is closed. */
  readonly revoked: AbortSignal;
}
