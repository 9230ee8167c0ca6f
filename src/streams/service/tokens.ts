import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * What a token allows: to read, to push, to define; `admin` allows all of that and the tokens of its tenant; `operator` allows
 * to make tenants and to set their quotas, and nothing inside of them.
 */
export const SCOPES = ["operator", "admin", "define", "push", "read"] as const;
export type TokenScope = (typeof SCOPES)[number];

/** A token as it is kept: its hash, what it allows, and until when. */
export interface StoredToken {
  readonly hash: string;
  readonly scopes: readonly TokenScope[];
  /** In milliseconds since 1970; `null`: it does not expire. */
  readonly expiresMs: number | null;
}

/** A new token: `hw_TENANT_ID_SECRET`. The secret has 256 bits, and is never kept. */
export function newToken(tenant: string): {
  readonly token: string;
  readonly id: string;
  readonly hash: string;
} {
  const id = randomBytes(6).toString("hex");
  const token = `hw_${tenant}_${id}_${randomBytes(32).toString("base64url")}`;
  return { token, id, hash: hashOf(token) };
}

/** The tenant and the id that a token names; `null` if it has not the form of one. */
export function partsOf(token: string): { readonly tenant: string; readonly id: string } | null {
  const [, tenant, id] = /^hw_([a-z][a-z0-9-]{0,39})_([0-9a-f]{12})_[\w-]{43}$/.exec(token) ?? [];
  return tenant === undefined || id === undefined ? null : { tenant, id };
}

export function hashOf(token: string): string {
  return hash("sha256", token, "hex");
}

/** Takes the same time wherever the hashes differ. */
export function isToken(token: string, stored: StoredToken): boolean {
  return timingSafeEqual(Buffer.from(hashOf(token), "hex"), Buffer.from(stored.hash, "hex"));
}
