import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";

/**
 * The compiler has looked into files that the program reads while it is loaded, such as templates, and has decided by what they do. That
 * holds if the program has read the same.
 */

export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The first file that is not what the compiler has read, or that was written since the process began; null if there is none. */
export function changedText(texts: Readonly<Record<string, string>>): string | null {
  return Object.keys(texts).find((path) => !isSame(path, texts[path])) ?? null;
}

function isSame(path: string, before: string | undefined): boolean {
  try {
    return (
      lstatSync(path).ctimeMs < performance.timeOrigin && fingerprint(readFileSync(path, "utf8")) === before
    );
  } catch {
    return false;
  }
}
