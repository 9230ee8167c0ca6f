import type { EventChange } from "../../host/cluster-side.js";

const TENANT = /^Streams\.tenants\("([^"]*)"\)(.*)$/;

/** Events of a tenant that bring or deliver rows, and change nothing that processes keep in memory. */
const ROWS: ReadonlySet<string> = new Set(["takeFrom", "moveOutput", "buryOutput"]);

/** What changed of a service, by the events that were carried out. */
export interface SortedChanges {
  /** Tenants were made or streams were shared, or anything else. */
  readonly all: boolean;
  /** Tenants of which anything may have changed. */
  readonly whole: ReadonlySet<string>;
  /** Tenants with new rows. */
  readonly rows: ReadonlySet<string>;
}

/** `null`: anything may have changed. */
export function sortedChanges(changes: readonly EventChange[] | null): SortedChanges {
  const [whole, rows] = [new Set<string>(), new Set<string>()];
  let all = changes === null;
  for (const [context, method] of changes ?? []) {
    const [, tenant, below] = TENANT.exec(context) ?? [];
    if (tenant === undefined) all = true;
    else (below === ".graph" || ROWS.has(method) ? rows : whole).add(tenant);
  }
  return { all, whole, rows };
}

/** The tenant that a context is of, or below which it is. */
export function tenantIn(context: string): string | null {
  return TENANT.exec(context)?.[1] ?? null;
}

/** As the events of a tenant name their context. */
export function tenantContext(tenant: string): string {
  return `Streams.tenants(${JSON.stringify(tenant)})`;
}
