import { checkPart, requirePackage } from "../../packages.js";

type Postgres = typeof import("libpg-query");

let loaded: Postgres | null = null;

/**
 * PostgreSQL's parser. Its functions work once `loadPostgres` has ended. Its types are for this folder only: a declaration of the package
 * that leads to them would need the parser.
 */
export function postgres(): Postgres {
  loaded ??= requirePackage<Postgres>("libpg-query");
  return loaded;
}

/** PostgreSQL's parser is a WebAssembly module, which takes a moment to be compiled. */
export async function loadPostgres(): Promise<void> {
  checkPart("SQL"); // also for what only a row will need
  await postgres().loadModule();
}
