import type { Catalog, CatalogReader } from "#src/pgwire/index.js";
import {
  evaluateQuery,
  outputValue,
  parseQuery,
  type ResolvedQuery,
  resolveQuery,
  type Scalar,
  type SqlSchema,
  type Tables,
} from "#src/sql/index.js";
import { literal } from "#src/sql/values/literal.js";

/** Tables in memory as a catalog for PostgreSQL clients, answered by the evaluator. */
export class EvaluatedTables implements Catalog {
  tables: Tables = {};
  readonly revocation = new AbortController();

  constructor(
    readonly schema: SqlSchema,
    readonly password = "open sesame",
  ) {}

  signIn({ password }: { readonly password: string }): Promise<CatalogReader | null> {
    if (password !== this.password) return Promise.resolve(null);
    return Promise.resolve({
      describe: async (sql) => {
        const { plan, parameters } = await this.#resolved(sql);
        return { columns: plan.columns, parameters };
      },
      read: async (sql, given) => {
        const query = await this.#resolved(sql);
        const parameters = given.map((text, i): Scalar => {
          const type = query.parameters[i] ?? "text";
          return text === null ? null : (literal(text, type) ?? null);
        });
        const { columns } = query.plan;
        const rows = evaluateQuery(query, this.tables, parameters).map((row) =>
          columns.map(({ type }, i) => shown(row[i] ?? null, type)),
        );
        return { columns, rows };
      },
      revoked: this.revocation.signal,
    });
  }

  async #resolved(sql: string): Promise<ResolvedQuery> {
    return resolveQuery(await parseQuery(sql), sql, this.schema);
  }
}

function shown(value: Scalar, type: Parameters<typeof outputValue>[1]): string | null {
  return value === null ? null : outputValue(value, type);
}
