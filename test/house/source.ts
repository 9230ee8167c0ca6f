import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A file of the repository: its path from the root and what it says. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** All files below some folders of the repository, or the files themselves, whose names end as given. */
export function filesIn(places: readonly string[], endings: readonly string[]): SourceFile[] {
  return places
    .flatMap((place) => walk(join(ROOT, place)))
    .flatMap((file) => {
      const path = relative(ROOT, file);
      return endings.some((ending) => path.endsWith(ending))
        ? [{ path, text: readFileSync(file, "utf8") }]
        : [];
    });
}

function walk(place: string): string[] {
  let entries: ReturnType<typeof namesIn>;
  try {
    entries = namesIn(place);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return [place];
    throw error;
  }
  return entries.flatMap((entry) => (entry.name === "node_modules" ? [] : walk(join(place, entry.name))));
}

function namesIn(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}

/** The code alone: comments are blanked, line by line, so that line numbers stay true. */
export function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
}

/** What a file imports, statically or not, as it is written there. */
export function importsOf(text: string): string[] {
  const written = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)["']([^"']+)["']/g;
  return [...withoutComments(text).matchAll(written)].map(([, specifier]) => specifier ?? "");
}

/** `src/core/core.ts:12: …` for each line that a pattern matches. */
export function linesMatching(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  );
}
