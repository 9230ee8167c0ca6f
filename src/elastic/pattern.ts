/** The address of a context, with `*` for any key: `Game.buildings(*).rooms(7)`. */
export interface Pattern {
  readonly text: string;
  matches(path: string): boolean;
}

/** One or several keys as they are written: numbers, or texts in quotes, which may have brackets in them. */
const ANY_KEY = String.raw`\((?:"(?:[^"\\]|\\.)*"|[^"()])+\)`;

/** Its parts: a `(*)` that is not within quotes, or anything else. */
const PART = /\(\*\)|(?:"(?:[^"\\]|\\.)*"|(?!\(\*\))[^"])+|"/g;

export function patternOf(text: string): Pattern {
  const parts: readonly string[] = text.match(PART) ?? [];
  if (!parts.includes("(*)")) return { text, matches: (path) => path === text };
  const literal = (part: string) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const expression = new RegExp(
    `^${parts.map((part) => (part === "(*)" ? ANY_KEY : literal(part))).join("")}$`,
  );
  return { text, matches: (path) => expression.test(path) };
}
