import { RowError } from "./row-error.js";

/**
 * LIKE in time linear in text times pattern, whatever the pattern is. The pattern is cut at its `%` into parts without one;
 * the first part must stand at the beginning, the last at the end, and each part between is looked for from the left:
 * the leftmost place is always a right choice, because it leaves the most text for the rest.
 */
export type Matcher = (text: string) => boolean;

/** `null` in a part stands for `_`, any one character. */
type Part = readonly (string | null)[];

const made = new Map<string, Matcher>();
const MADE_MAX = 1000;

/** For patterns that come with the rows. */
export function like(text: string, pattern: string): boolean {
  let matcher = made.get(pattern);
  if (matcher === undefined) {
    if (made.size >= MADE_MAX) made.clear();
    matcher = likeMatcher(pattern);
    made.set(pattern, matcher);
  }
  return matcher(text);
}

export function likeMatcher(pattern: string): Matcher {
  const parts = partsOf(pattern);
  const [first = [], ...rest] = parts;
  const plain = parts.map((part) => (part.includes(null) ? null : part.join("")));
  const [start = null, middle = null, end = null] = plain;
  // The usual patterns need no walk over characters.
  if (parts.length === 1 && start !== null) return (text) => text === start;
  if (parts.length === 2 && start !== null && middle !== null)
    return (text) =>
      text.length >= start.length + middle.length && text.startsWith(start) && text.endsWith(middle);
  if (parts.length === 3 && start === "" && end === "" && middle !== null)
    return (text) => text.includes(middle);
  return (text) => matches([...text], first, rest);
}

function partsOf(pattern: string): Part[] {
  const parts: (string | null)[][] = [[]];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character === "%") parts.push([]);
    else if (character === "_") parts.at(-1)?.push(null);
    else if (character !== "\\") parts.at(-1)?.push(character);
    else if (++i < characters.length) parts.at(-1)?.push(characters[i] ?? "");
    else throw new RowError("22025", "LIKE pattern must not end with escape character");
  }
  return parts;
}

function matches(text: readonly string[], first: Part, rest: readonly Part[]): boolean {
  const last = rest.at(-1);
  if (last === undefined) return text.length === first.length && standsAt(text, first, 0);
  if (!standsAt(text, first, 0)) return false;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    while (at + part.length <= text.length && !standsAt(text, part, at)) at++;
    if (at + part.length > text.length) return false;
    at += part.length;
  }
  const end = text.length - last.length;
  return end >= at && standsAt(text, last, end);
}

function standsAt(text: readonly string[], part: Part, at: number): boolean {
  if (at + part.length > text.length) return false;
  return part.every((character, i) => character === null || text[at + i] === character);
}
