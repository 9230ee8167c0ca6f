import type { RE2JS } from "re2js";
import { requirePackage } from "../../packages.js";
import { builtins, checkLength, RowError } from "./builtin.js";

/** A pattern of at most so many characters; its automaton is at most a few hundred times as large. */
const PATTERN_MAX = 1000;
const KEPT_MAX = 200;

/**
 * Regular expressions, in an engine whose time grows with the length of the text only (an automaton, without backtracking).
 * What needs backtracking (back references, looking around) has no pattern there and is refused.
 */
export const PATTERN_BUILTINS = builtins({
  "~ : text text -> bool": (text: string, pattern: string) => compiled(pattern, "").matcher(text).find(),
  "~* : text text -> bool": (text: string, pattern: string) => compiled(pattern, "i").matcher(text).find(),
  "!~ : text text -> bool": (text: string, pattern: string) => !compiled(pattern, "").matcher(text).find(),
  "!~* : text text -> bool": (text: string, pattern: string) => !compiled(pattern, "i").matcher(text).find(),
  "regexp_like : text text -> bool": (text: string, pattern: string) =>
    compiled(pattern, "").matcher(text).find(),
  "regexp_like : text text text -> bool": (text: string, pattern: string, flags: string) =>
    compiled(pattern, flags).matcher(text).find(),
  "regexp_count : text text -> int4": (text: string, pattern: string) => {
    const matcher = compiled(pattern, "").matcher(text);
    let count = 0;
    while (matcher.find()) count++;
    return count;
  },
  "regexp_substr : text text -> text?": (text: string, pattern: string) => {
    const matcher = compiled(pattern, "").matcher(text);
    return matcher.find() ? (matcher.group() ?? null) : null;
  },
  "substring : text text -> text?": (text: string, pattern: string) => {
    const matcher = compiled(pattern, "").matcher(text);
    if (!matcher.find()) return null;
    return (matcher.groupCount() > 0 ? matcher.group(1) : matcher.group()) ?? null;
  },
  "regexp_replace : text text text -> text": (text: string, pattern: string, by: string) =>
    replaced(text, pattern, by, ""),
  "regexp_replace : text text text text -> text": replaced,
});

const kept = new Map<string, RE2JS>();

function compiled(pattern: string, flags: string): RE2JS {
  const name = `${flags}/${pattern}`;
  const known = kept.get(name);
  if (known !== undefined) return known;
  if (pattern.length > PATTERN_MAX)
    throw new RowError("54000", `a regular expression has at most ${PATTERN_MAX} characters here`);
  if (/[^gic]/.test(flags))
    throw new RowError("22023", `invalid regular expression option: ${JSON.stringify(flags.slice(0, 20))}`);
  const { RE2JS, RE2JSSyntaxException } = requirePackage<typeof import("re2js")>("re2js");
  try {
    const made = RE2JS.compile(pattern, (flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0) | RE2JS.DOTALL);
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(name, made);
    return made;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new RowError("2201B", `invalid regular expression: ${error.message.slice(0, 200)}`);
  }
}

/** `\1` to `\9` in the replacement are groups, `\&` is the whole match; only `g` replaces more than the first. */
function replaced(text: string, pattern: string, by: string, flags: string): string {
  const matcher = compiled(pattern, flags).matcher(text);
  let [result, from] = ["", 0];
  while (matcher.find()) {
    const piece = by.replace(/\\([\d&\\])/g, (_, which: string) => {
      if (which === "\\") return "\\";
      const group = which === "&" ? 0 : Number(which);
      return group <= matcher.groupCount() ? (matcher.group(group) ?? "") : "";
    });
    result += text.slice(from, matcher.start()) + piece;
    checkLength(result.length);
    from = matcher.end();
    if (!flags.includes("g")) break;
  }
  return result + text.slice(from);
}
