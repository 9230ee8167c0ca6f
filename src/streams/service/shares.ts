import { HeadwaterError } from "../../errors.js";

/** With whom a stream or a query is shared: with these tenants, or with all of them. */
export type SharedWith = readonly string[] | "all";

/** The name of a stream of one tenant in the queries of another. */
export function importedName(owner: string, name: string): string {
  return `${owner}.${name}`;
}

/** The owner and the stream that an imported name means; `null` if it is the name of a stream of one's own. */
export function ownerOf(imported: string): { readonly owner: string; readonly name: string } | null {
  const dot = imported.indexOf(".");
  return dot < 0 ? null : { owner: imported.slice(0, dot), name: imported.slice(dot + 1) };
}

export function isSharedWith(shared: SharedWith | undefined, tenant: string): boolean {
  return shared === "all" || shared?.includes(tenant) === true;
}

/** Refuses to stop sharing what tenants read. */
export function refuseInUse(name: string, users: readonly string[]): void {
  if (users.length === 0) return;
  throw new HeadwaterError(
    "HW-5404",
    `"${name}" is read by ${users.length === 1 ? "the tenant" : "the tenants"} ${users.join(", ")}. Nothing was changed.`,
  );
}
