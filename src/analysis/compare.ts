import type { ComponentPath } from "./graph.js";

/** By code units: the same on every machine, whatever its language. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Different for paths that differ in anything that decides. */
export function pathName({ from, to, annotation, gate, repetition, lineage }: ComponentPath): string {
  return JSON.stringify([from, to, annotation, gate, repetition ?? null, lineage ?? null]);
}
