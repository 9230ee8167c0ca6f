import type { Type } from "../plan/index.js";

/** The value that stands where there is none. */
export function blank({ type }: Type): string {
  return type === "text" || type === "json" ? '""' : type === "bool" ? "false" : "0";
}
