import type { Catalog, CatalogReader, Result, SystemRelation } from "../../pgwire/index.js";
import type { SqlType } from "../../sql/index.js";
import type { ColumnSpec, ColumnType } from "../columns/index.js";
import type { QueryAnswer, StreamService, TenantStreams } from "../service/index.js";
import { pgText } from "./text.js";

/** How often it is looked whether the tokens of open connections are still good. */
const WATCH_MS = 1000;

const TYPES: Readonly<Record<ColumnType, SqlType>> = {
  int: "int8",
  float: "float8",
  bool: "bool",
  text: "text",
  timestamp: "timestamp",
  numeric: "numeric",
  json: "jsonb",
};

/** The tenants of a service as PostgreSQL users. */
export class StreamsCatalog implements Catalog {
  readonly #service: StreamService;
  readonly #open = new Map<AbortController, string>();
  #watch: ReturnType<typeof setInterval> | null = null;

  constructor(service: StreamService) {
    this.#service = service;
  }

  async signIn({
    user,
    password,
  }: {
    readonly user: string;
    readonly password: string;
  }): Promise<CatalogReader | null> {
    if (!this.#mayRead(password, user)) return null;
    const streams = await this.#service.tenant(user);
    const revocation = new AbortController();
    this.#open.set(revocation, password);
    this.#watch ??= setInterval(() => this.#closeRevoked(), WATCH_MS).unref();
    return readerOf(streams, revocation.signal, () => {
      if (!this.#mayRead(password, user)) this.#revoke(revocation);
    });
  }

  close(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    for (const revocation of [...this.#open.keys()]) this.#revoke(revocation);
  }

  #mayRead(token: string, tenant?: string): boolean {
    const granted = this.#service.granted(token);
    if (granted === null || (tenant !== undefined && granted.tenant !== tenant)) return false;
    return granted.scopes.includes("read") || granted.scopes.includes("admin");
  }

  #closeRevoked(): void {
    for (const [revocation, token] of this.#open) if (!this.#mayRead(token)) this.#revoke(revocation);
  }

  #revoke(revocation: AbortController): void {
    this.#open.delete(revocation);
    revocation.abort();
  }
}

function readerOf(streams: TenantStreams, revoked: AbortSignal, check: () => void): CatalogReader {
  return {
    revoked,
    async describe(sql) {
      check();
      const { columns, parameters } = await streams.describeQuery(sql);
      return { parameters, columns: columns.map(({ name, type }) => ({ name, type: shown(type) })) };
    },
    async read(sql, parameters): Promise<Result> {
      check();
      const answer = await streams.query(sql, parameters);
      const columns = answer.columns.map(({ name, type }) => ({ name, type: shown(type) }));
      return { columns, rows: rowsOf(answer) };
    },
    relations: () => Promise.resolve(relationsOf(streams)),
  };
}

/** An array comes out of the engine as JSON. */
function shown(type: SqlType): SqlType {
  return type.endsWith("[]") ? "jsonb" : type;
}

function* rowsOf({ schema, columns, batches }: QueryAnswer): Generator<(string | null)[]> {
  for (const batch of batches)
    for (let row = 0; row < batch.rows; row++)
      yield schema.map((spec: ColumnSpec, i) => {
        const cell = batch.cell(row, i);
        return cell === null ? null : pgText(cell, spec, columns[i]?.type ?? TYPES[spec.type]);
      });
}

/** Tables and views by what they hold; streams, and queries that only add rows, by the rows that are retained. */
function relationsOf(streams: TenantStreams): SystemRelation[] {
  return streams
    .list()
    .filter(({ kind, isAppendOnly }) => kind === "table" || kind === "view" || isAppendOnly)
    .map(({ name, kind, columns, key, sql }) => ({
      ...{ name, kind: kind === "table" ? "r" : kind === "view" ? "m" : "v", definition: sql },
      key: key ?? [],
      columns: columns.map((spec) => ({ name: spec.name, type: TYPES[spec.type], nullable: spec.nullable })),
    }));
}
