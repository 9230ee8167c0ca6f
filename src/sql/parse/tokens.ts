import { type ScanToken, scanSync } from "libpg-query";
import type { Emit } from "../plan.js";

/**
 * A small pass over the tokens, for what people write and PostgreSQL's grammar does not take. It never changes the
 * length of the text, so that positions stay true.
 *
 * - `window` as a column name (figure 6 of Blazes): a reserved word, so it is read under another name.
 * - `TABLE(TUMBLE(TABLE clicks, ...))`, Flink's spelling: the word TABLE is left out, and its parentheses are. In
 *   `SESSION(TABLE clicks PARTITION BY id, ...)`, the key becomes an argument.
 * - `EMIT CHANGES` and `EMIT ON WINDOW CLOSE` at the end are taken off and kept apart.
 */
export interface Adapted {
  readonly text: string;
  /** What PostgreSQL calls `name`, by the name that was written. */
  written(name: string): string;
  readonly tokens: readonly ScanToken[];
  readonly emit: Emit | null;
}

export function adapt(text: string): Adapted {
  const tokens = scan(text);
  const standIn = unusedName(text);
  const bytes = new TextEncoder().encode(text);
  const put = (token: ScanToken | undefined, word: string) => {
    if (token === undefined) return;
    bytes.set(new TextEncoder().encode(word.padEnd(token.end - token.start)), token.start);
  };
  const word = (i: number) => tokens[i]?.text.toLowerCase() ?? "";
  const clause = emitClause(tokens, word);
  for (const [i, token] of tokens.entries()) {
    if (clause !== null && i >= clause.from && i < clause.to) put(token, "");
    else if (token.keywordName === "NO_KEYWORD") continue;
    else if (word(i) === "window" && !opensWindowClause(tokens, i)) put(token, standIn);
    else if (word(i) === "table" && word(i + 1) === "(") {
      for (const each of [token, tokens[i + 1], tokens[closing(tokens, i + 1)]]) put(each, "");
    } else if (word(i) === "table" && ["(", ","].includes(word(i - 1))) {
      put(token, "");
      if (word(i + 2) !== "partition" || word(i + 3) !== "by") continue;
      put(tokens[i + 2], ",");
      put(tokens[i + 3], "");
    }
  }
  const back = new RegExp(standIn, "g");
  return {
    text: new TextDecoder().decode(bytes),
    tokens,
    written: (name) => name.replace(back, "window"),
    emit: clause?.emit ?? null,
  };
}

function emitClause(
  tokens: readonly ScanToken[],
  word: (i: number) => string,
): { readonly emit: Emit; readonly from: number; readonly to: number } | null {
  const to = word(tokens.length - 1) === ";" ? tokens.length - 1 : tokens.length;
  if (word(to - 2) === "emit" && word(to - 1) === "changes") return { emit: "changes", from: to - 2, to };
  const last = [-4, -3, -2, -1].map((back) => word(to + back)).join(" ");
  return last === "emit on window close" ? { emit: "on window close", from: to - 4, to } : null;
}

function closing(tokens: readonly ScanToken[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (tokens[i]?.text === "(") depth++;
    if (tokens[i]?.text === ")" && --depth === 0) return i;
  }
  return -1;
}

/** A text that cannot be cut into tokens is refused by the parser, in better words. */
function scan(text: string): ScanToken[] {
  try {
    return scanSync(text).tokens.filter(({ tokenName }) => !/COMMENT/.test(tokenName));
  } catch {
    return [];
  }
}

/** `WINDOW w AS (...)`, which is refused later with words of its own. */
function opensWindowClause(tokens: readonly ScanToken[], i: number): boolean {
  return tokens[i + 2]?.text.toLowerCase() === "as" && tokens[i + 3]?.text === "(";
}

function unusedName(text: string): string {
  const lower = text.toLowerCase();
  for (let i = 0; ; i++) {
    const name = `w${String(i).padStart(4, "0")}w`;
    if (!lower.includes(name)) return name;
  }
}
