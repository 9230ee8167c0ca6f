/** What all files of a journal have in common. */

import { closeSync, fsyncSync, openSync } from "node:fs";

/** Only the owner of the files can read them: they hold all that the program knows. */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** A new name is safe only when its directory is. Not every system can do that; there, it is not needed. */
export function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
