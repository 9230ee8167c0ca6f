import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The address of a module of functions, given as a path or as an address. */
export function functionsUrl(given: string): string {
  return /^[a-z]{2,}:/i.test(given) ? given : pathToFileURL(resolve(given)).href;
}

/** Loads a module that declares functions, as the operator of a service does. Tenants bring no code. */
export async function loadFunctions(given: string): Promise<void> {
  await import(functionsUrl(given));
}
