/** JSON values as texts: `json` as it was written, `jsonb` in PostgreSQL's own form, in which equal values are equal texts. */
export function jsonText(text: string, type: "json" | "jsonb"): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return type === "json" ? text : canonicalJson(value);
  } catch {
    return undefined;
  }
}

/** Shorter keys first, then by their bytes; `, ` and `: ` between. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => byLength(a, b));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}: ${canonicalJson(each)}`).join(", ")}}`;
}

function byLength(a: string, b: string): number {
  const [x, y] = [new TextEncoder().encode(a).length, new TextEncoder().encode(b).length];
  return x - y || (a < b ? -1 : a > b ? 1 : 0);
}

/** `value -> key`: the member of an object, or an element of an array, from the end if the key is negative. */
export function jsonMember(text: string, key: string | number): unknown {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return typeof key === "number" ? value.at(key) : undefined;
  if (typeof value !== "object" || value === null || typeof key === "number") return undefined;
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
