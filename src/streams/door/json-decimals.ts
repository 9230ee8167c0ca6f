import type { Schema } from "../columns/index.js";

/** Only numbers like these may lose digits in a double, or be written in another way than they came. */
const LONG = /[\d.]{16}|\d[eE]/;

/** A text, or a number that may be long. */
const TOKENS = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * A record of JSON with its decimals as they are written: `JSON.parse` has made doubles of them. `text` is the JSON that the record
 * is read from. What is beyond all doubles stays so, and is refused: a few bytes must not stand for a thousand digits.
 */
export function withDecimals(record: unknown, text: string, schema: Schema): unknown {
  if (!LONG.test(text) || typeof record !== "object" || record === null) return record;
  const quoted = text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${token}"`));
  const written = JSON.parse(quoted) as object;
  const decimals = schema
    .filter(({ type, name }) => type === "numeric" && Number.isFinite(Reflect.get(record, name)))
    .map(({ name }): [string, unknown] => [name, Reflect.get(written, name)]);
  // As own fields, whatever they are called.
  return Object.fromEntries([...Object.entries(record), ...decimals]);
}
