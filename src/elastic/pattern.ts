/** The address of a context, with `*` for any key: `Game.buildings(*).rooms(7)`. */
export interface Pattern {
  readonly text: string;
  matches(path: string): boolean;
}

/** One or several keys as they are written: numbers, or texts in quotes, which may have brackets in them. */
const ANY_KEY = String.raw`\((?:"(?:[^"\\]|\\.)*"|[^"()])+\)`;

export function patternOf(text: string): Pattern {
  if (!text.includes("(*)")) return { text, matches: (path) => path === text };
  const parts = text.split("(*)").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const expression = new RegExp(`^${parts.join(ANY_KEY)}$`);
  return { text, matches: (path) => expression.test(path) };
}
