import { type ScanToken, scanSync } from "libpg-query";

/**
 * A small pass over the tokens, for what people write and PostgreSQL's grammar does not take. It never changes the
 * length of the text, so that positions stay true.
 *
 * - `window` as a column name (figure 6 of Blazes): a reserved word, so it is read under another name.
 * - `TUMBLE(TABLE clicks, ...)`, Flink's spelling: the word TABLE is left out.
 */
export interface Adapted {
  readonly text: string;
  /** What PostgreSQL calls `name`, by the name that was written. */
  written(name: string): string;
  readonly tokens: readonly ScanToken[];
}

export function adapt(text: string): Adapted {
  const tokens = scan(text);
  const standIn = unusedName(text);
  const bytes = new TextEncoder().encode(text);
  const put = (token: ScanToken, word: string) => bytes.set(new TextEncoder().encode(word), token.start);
  for (const [i, token] of tokens.entries()) {
    const word = token.text.toLowerCase();
    if (token.keywordName === "NO_KEYWORD") continue;
    if (word === "window" && !opensWindowClause(tokens, i)) put(token, standIn);
    if (word === "table" && ["(", ","].includes(tokens[i - 1]?.text ?? "")) put(token, "     ");
  }
  const back = new RegExp(standIn, "g");
  return { text: new TextDecoder().decode(bytes), tokens, written: (name) => name.replace(back, "window") };
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
