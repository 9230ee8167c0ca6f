/**
 * The table of a journal in files that change no more. Each carry-over copies the last one and brings the copy up to date, so
 * there is a sound one at every moment, however the process ends; the last two are kept, and the log since the older one: if one
 * file is damaged, the other one and the log make it again. A name says up to which group the file has everything, and
 * in which epoch it was made.
 */

import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { differenceFrom, readSums, type Sums } from "./sums.js";

const NAME = /^(\d{16})-(\d{8})\.(mdb|sum)$/;

export interface Generation {
  /** Without an ending. */
  readonly name: string;
  readonly path: string;
  readonly applied: number;
  readonly bytes: number;
}

export function generationName(applied: number, epoch: number): string {
  return `${String(applied).padStart(16, "0")}-${String(epoch).padStart(8, "0")}`;
}

export interface FoundGenerations {
  /** The newest sound one; null if there is none. */
  readonly newest: Generation | null;
  /** All that have checksums, newest first, sound or not. */
  readonly all: readonly Generation[];
  readonly damages: readonly string[];
}

/** Looks for a sound table, newest first; every file is compared with its checksums before it is used. */
export async function findGenerations(directory: string, journal: string): Promise<FoundGenerations> {
  const all: Generation[] = [];
  const damages: string[] = [];
  let newest: Generation | null = null;
  for (const name of namesIn(directory).toReversed()) {
    const found = generationIn(directory, name, journal);
    if (typeof found === "string") {
      if (isThere(directory, name)) damages.push(found);
      continue;
    }
    const difference = newest === null ? await differenceFrom(found.generation.path, found.sums) : null;
    if (!isThere(directory, name)) continue;
    all.push(found.generation);
    if (difference !== null) damages.push(`table/${name}.mdb ${difference}`);
    else newest ??= found.generation;
  }
  return { newest, all, damages };
}

/** The owner of the journal may have removed it while it was looked at. Checksums go first. */
function isThere(directory: string, name: string): boolean {
  return existsSync(join(directory, `${name}.sum`));
}

/** What is wrong with a table; null if nothing is. */
export async function damageOf({ name, path }: Generation): Promise<string | null> {
  const directory = dirname(path);
  const sums = readSums(join(directory, `${name}.sum`));
  const difference = sums === null ? null : await differenceFrom(path, sums);
  if (!isThere(directory, name)) return null;
  if (sums === null) return `table/${name}.sum cannot be read`;
  return difference === null ? null : `table/${name}.mdb ${difference}`;
}

/** Removes all but these, and what was never finished. */
export function removeOthers(directory: string, kept: readonly Generation[]): void {
  const names = new Set(kept.map(({ name }) => name));
  const isSum = (name: string) => (name.endsWith(".sum") ? 0 : 1);
  for (const name of namesOf(directory).sort((a, b) => isSum(a) - isSum(b))) {
    if (!names.has(name.split(".", 1)[0] ?? name)) rmSync(join(directory, name), { force: true });
  }
}

function generationIn(
  directory: string,
  name: string,
  journal: string,
): { generation: Generation; sums: Sums } | string {
  const sums = readSums(join(directory, `${name}.sum`));
  if (sums === null) return `table/${name}.sum cannot be read`;
  if (sums.journal !== journal) return `table/${name}.mdb is of another journal`;
  const applied = Number(name.slice(0, 16));
  if (sums.applied !== applied) return `table/${name}.sum is of another table`;
  return { generation: { name, path: join(directory, `${name}.mdb`), applied, bytes: sums.bytes }, sums };
}

/** Names of tables that were finished, oldest first. */
function namesIn(directory: string): string[] {
  const names = namesOf(directory).filter((name) => NAME.exec(name)?.[3] === "sum");
  return names.map((name) => name.slice(0, -".sum".length)).sort();
}

function namesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // There is none until the first carry-over.
  }
}
