import type { Scalar } from "../ast.js";
import type { Means } from "./failure.js";

/** Functions of texts, which are counted in code points; `undefined` if there is none of the name. */
export function textFunction(
  means: Means,
  name: string,
  operands: readonly Exclude<Scalar, null>[],
): Scalar | undefined {
  const [first, second, third] = operands;
  const text = String(first);
  const letters = [...text];
  switch (name) {
    case "lower":
      return text.toLowerCase();
    case "upper":
      return text.toUpperCase();
    case "length":
      return letters.length;
    case "reverse":
      return letters.reverse().join("");
    case "trim":
    case "ltrim":
    case "rtrim":
      return trimmed(letters, second === undefined ? " " : String(second), name);
    case "position":
    case "strpos": {
      const at = text.indexOf(String(second));
      return at < 0 ? 0 : [...text.slice(0, at)].length + 1;
    }
    case "starts_with":
      return text.startsWith(String(second));
    case "replace":
      return String(second) === "" ? text : text.replaceAll(String(second), () => String(third));
    case "left":
      return letters.slice(0, Number(second)).join("");
    case "right":
      return letters
        .slice(Number(second) > 0 ? Math.max(0, letters.length - Number(second)) : -Number(second))
        .join("");
    case "substring":
      return substring(means, letters, Number(second), third === undefined ? null : Number(third));
    case "split_part":
      return part(means, text, String(second), Number(third));
    default:
      return undefined;
  }
}

function trimmed(letters: readonly string[], set: string, name: string): string {
  let [start, end] = [0, letters.length];
  const drops = (i: number) => set.includes(letters[i] ?? "\0");
  if (name !== "rtrim") while (start < end && drops(start)) start++;
  if (name !== "ltrim") while (end > start && drops(end - 1)) end--;
  return letters.slice(start, end).join("");
}

/** A start before the text takes from the length. */
function substring(means: Means, letters: readonly string[], start: number, length: number | null): Scalar {
  if (length !== null && length < 0) return means.fail("out of range");
  const end = length === null ? letters.length : start - 1 + length;
  return letters.slice(Math.max(0, start - 1), Math.max(0, end)).join("");
}

/** From 1 on, and from -1 on from the end. */
function part(means: Means, text: string, separator: string, place: number): Scalar {
  if (place === 0) return means.fail("out of range");
  const parts = separator === "" ? [text] : text.split(separator);
  return parts.at(place > 0 ? place - 1 : place) ?? "";
}

/** `%` is any text and `_` any character; a backslash takes them by the letter. */
export function matchesLike(text: string, pattern: string, ignoreCase: boolean): boolean {
  let source = "";
  for (let i = 0; i < pattern.length; i++) {
    const letter = pattern[i] ?? "";
    if (letter === "%") source += ".*";
    else if (letter === "_") source += ".";
    else {
      const plain = letter === "\\" && i + 1 < pattern.length ? (pattern[++i] ?? "") : letter;
      source += plain.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    }
  }
  return new RegExp(`^${source}$`, ignoreCase ? "isu" : "su").test(text);
}
