/** One difference between two states of a context, as they are previewed: where, and what was and is there. */
export interface ValueChange {
  /** The names of fields, keys of maps and positions in lists that lead there. */
  readonly path: readonly string[];
  /** `undefined` where there was nothing. */
  readonly before: unknown;
  /** `undefined` where there is nothing any more. */
  readonly after: unknown;
}

/**
 * Where two previews (`src/state/preview.ts`) differ, in the order of the first. Fields, plain objects and maps are compared by their names and keys, lists
 * by position, sets by what is in them; anything else is one value.
 */
export function changesOf(before: unknown, after: unknown, path: readonly string[] = []): ValueChange[] {
  if (before === after) return [];
  const [from, to] = [partsOf(before), partsOf(after)];
  if (from === null || to === null || from.kind !== to.kind)
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
  const names = new Set([...from.parts.keys(), ...to.parts.keys()]);
  return [...names].flatMap((name) => {
    const below = [...path, name];
    if (!to.parts.has(name)) return [{ path: below, before: from.parts.get(name), after: undefined }];
    if (!from.parts.has(name)) return [{ path: below, before: undefined, after: to.parts.get(name) }];
    return changesOf(from.parts.get(name), to.parts.get(name), below);
  });
}

interface Parts {
  readonly kind: string;
  readonly parts: ReadonlyMap<string, unknown>;
}

function partsOf(value: unknown): Parts | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value))
    return { kind: "list", parts: new Map(value.map((each, i) => [String(i), each])) };
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length !== 1 || first === undefined || !first[0].startsWith("$"))
    return { kind: "object", parts: new Map(entries) };
  const [kind, content] = first;
  if (kind === "$map")
    return { kind, parts: new Map(itemsOf(content).map((each) => [nameOf(each[0]), each[1]])) };
  if (kind === "$set")
    return { kind, parts: new Map((content as unknown[]).map((each) => [nameOf(each), each])) };
  return null;
}

/** What is cut off at the end of a map is no entry of it. */
function itemsOf(content: unknown): readonly (readonly [unknown, unknown])[] {
  return (content as unknown[]).map((each) => (Array.isArray(each) ? [each[0], each[1]] : ["…", each]));
}

function nameOf(key: unknown): string {
  return typeof key === "string" ? key : JSON.stringify(key);
}
