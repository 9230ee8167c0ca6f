import type { Key } from "../model/key.js";
import type { FieldKind, KeyStyle } from "./program.js";

/** The data of generated programs: what fields hold, how it changes, and what a method makes of what it sees. */

const MODULUS = 997;

export function initialValue(kind: FieldKind): unknown {
  switch (kind) {
    case "number":
      return 1;
    case "list":
      return [];
    case "map":
      return new Map();
    case "set":
      return new Set();
    case "record":
      return { n: 0, tags: [] };
    case "timer":
      return "";
  }
}

export function change(
  self: Record<string, unknown>,
  field: string,
  drop: boolean,
  value: number,
): undefined {
  const held = self[field];
  if (typeof held === "number") self[field] = drop ? value : mix(held, value);
  else if (Array.isArray(held)) drop ? held.pop() : held.push(value) > 5 && held.shift();
  else if (held instanceof Map) drop ? held.delete(value % 4) : held.set(value % 4, value);
  else if (held instanceof Set) drop ? held.delete(value % 5) : held.add(value % 5);
  else if (typeof held === "object" && held !== null) {
    const record = held as { n: number; tags: string[] };
    record.n = drop ? 0 : mix(record.n, value);
    if (drop) record.tags = [];
    else if (record.tags.length < 4) record.tags.push(`t${value % 5}`);
  }
  return undefined;
}

export function keyOf(style: KeyStyle, n: number): Key | undefined {
  if (style === null) return undefined;
  return style === "number" ? n : style === "text" ? `k${n}` : [n, n + 1];
}

export function mix(acc: number, value: number): number {
  return (acc * 31 + value + 7) % MODULUS;
}

/** One number for any value, so that two values that differ are unlikely to look alike. */
export function digest(value: unknown): number {
  if (typeof value === "number") return value;
  let sum = 3;
  if (typeof value === "string") {
    for (let i = 0; i < value.length; i++) sum = mix(sum, value.charCodeAt(i));
  } else if (value instanceof Map) {
    for (const [key, item] of value) sum = mix(mix(sum, digest(key)), digest(item));
  } else if (Array.isArray(value) || value instanceof Set) {
    for (const item of value) sum = mix(sum, digest(item));
  } else if (typeof value === "object" && value !== null) {
    for (const name in value) sum = mix(sum, digest((value as Record<string, unknown>)[name]));
  }
  return sum;
}
