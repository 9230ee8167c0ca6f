import type { Catalog, CatalogReader, Result, SystemRelation } from "../../pgwire/index.js";
import type { SqlType } from "../../sql/index.js";
import type { ColumnSpec, ColumnType } from "../columns/index.js";
import type { QueryAnswer, StreamService, TenantStreams } from "../service/index.js";
import { pgText } from "./text.js";

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
  readonly #open = new Set<AbortController>();

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
    const granted = await this.#service.granted(password);
    if (granted === null || granted.tenant !== user) return null;
    if (!granted.scopes.includes("read") && !granted.scopes.includes("admin")) return null;
    const streams = await this.#service.tenant(user);
    const revocation = new AbortController();
    const unwatch = this.#service.watch(granted, () => revocation.abort());
    this.#open.add(revocation);
    revocation.signal.addEventListener("abort", () => {
      unwatch();
      this.#open.delete(revocation);
    });
    return readerOf(streams, revocation.signal);
  }

  close(): void {
    for (const revocation of [...this.#open]) revocation.abort();
  }
}

function readerOf(streams: TenantStreams, revoked: AbortSignal): CatalogReader {
  return {
    revoked,
    async describe(sql) {
      const { columns, parameters } = await streams.describeQuery(sql);
      return { parameters, columns: columns.map(({ name, type }) => ({ name, type: shown(type) })) };
    },
    async read(sql, parameters): Promise<Result> {
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
