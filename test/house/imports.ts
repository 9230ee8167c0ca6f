import { posix } from "node:path";
import { parseSync } from "oxc-parser";
import type { SourceFile } from "./source.js";

/**
 * How a file needs another: `value` loads it, `type` only names what is in it and is gone when the program runs, `start`
 * makes a thread or a process of it.
 */
export type Need = "value" | "type" | "start";

export interface Import {
  readonly from: string;
  readonly to: string;
  readonly need: Need;
}

/** Folders that are divided into rooms: what lies directly in one of them is a room, too. */
const DIVIDED = ["elastic", "host", "sim", "streams"];

/** `host/event` for `src/host/event/frame.ts`, `host` for `src/host/run.ts`, `errors` for `src/errors.ts`. */
export function roomOf(path: string): string {
  const [top = "", room = "", file] = path
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .split("/");
  return DIVIDED.includes(top) && file !== undefined ? `${top}/${room}` : top;
}

/** What files of `src` need of each other. */
export function importsIn(files: readonly SourceFile[]): Import[] {
  return files.flatMap(({ path, text }) => {
    const found = (specifier: string, need: Need) => {
      const to = posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
      return specifier.startsWith(".") ? [{ from: path, to, need }] : [];
    };
    return written(path, text).flatMap(([specifier, need]) => found(specifier, need));
  });
}

function written(path: string, text: string): [specifier: string, need: Need][] {
  const { errors, module } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const all: [string, Need][] = [];
  for (const { moduleRequest, entries } of module.staticImports) {
    const isType = entries.length > 0 && entries.every((entry) => entry.isType);
    all.push([moduleRequest.value, isType ? "type" : "value"]);
  }
  for (const { entries } of module.staticExports) {
    const from = entries.find(({ moduleRequest }) => moduleRequest !== null)?.moduleRequest;
    if (from) all.push([from.value, entries.every((entry) => entry.isType) ? "type" : "value"]);
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const specifier = text.slice(moduleRequest.start, moduleRequest.end);
    if (/^"[^"]*"$/.test(specifier)) all.push([specifier.slice(1, -1), "value"]);
  }
  for (const [, specifier = ""] of text.matchAll(/\bnew URL\("([^"]+\.js)", import\.meta\.url\)/g))
    all.push([specifier, "start"]);
  return all;
}

/** Which rooms need which others, and in how many files. */
export function roomTable(imports: readonly Import[]): Map<string, Map<string, Record<Need, number>>> {
  const table = new Map<string, Map<string, Record<Need, number>>>();
  for (const { from, to, need } of imports) {
    const [room, other] = [roomOf(from), roomOf(to)];
    if (room === other) continue;
    const row = table.get(room) ?? new Map<string, Record<Need, number>>();
    const counts = row.get(other) ?? { value: 0, type: 0, start: 0 };
    counts[need] += 1;
    table.set(room, row.set(other, counts));
  }
  return table;
}

/** A way round from a room to itself along imports by value; null if there is none. */
export function cycleIn(imports: readonly Import[]): string[] | null {
  const table = roomTable(imports.filter(({ need }) => need === "value"));
  const done = new Set<string>();
  const search = (room: string, way: readonly string[]): string[] | null => {
    if (way.includes(room)) return [...way.slice(way.indexOf(room)), room];
    if (done.has(room)) return null;
    for (const other of table.get(room)?.keys() ?? []) {
      const cycle = search(other, [...way, room]);
      if (cycle !== null) return cycle;
    }
    done.add(room);
    return null;
  };
  for (const room of table.keys()) {
    const cycle = search(room, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
