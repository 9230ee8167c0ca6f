import { COPYING, MAPPING, PICKING, TELLING } from "./builtins.js";

/** Words that a parenthesis may follow without anything being called. */
const WORDS = new Set("if for while switch function return typeof in of case else do void".split(" "));

/** Whether a template, as far as its text tells, only reads the data that it is given. Anything else counts as more. */
export function onlyReads(library: string, text: string): boolean {
  if (library === "ejs") return codeOfEjs(text).every(isReading);
  if (library === "pug") return text.split("\n").every(isReadingPug);
  return false;
}

/** What stands between `<%` and `%>`, apart from comments. */
function codeOfEjs(text: string): string[] {
  const pieces = text.split("<%").slice(1);
  return pieces
    .map((each) => each.split("%>")[0] ?? "")
    .flatMap((code) => (/^[#%]/.test(code) ? [] : [code]));
}

/** No assignment, and no call but of methods of the language that change nothing. */
function isReading(code: string): boolean {
  const plain = code
    .replace(/^[=\-_]/, "")
    .replace(/[-_]$/, "")
    .replace(/[=!]==?|[<>]=|=>/g, " ")
    .replace(/\b(?:const|let|var)\s+\w+\s*=/g, " ");
  if (/=|\+\+|--|`|\\|\b(?:delete|new|eval|yield|import|this|include)\b/.test(plain)) return false;
  if (/\bfor\b(?!\s*\(\s*(?:const|let|var)\s)/.test(plain)) return false;
  for (const [, before = "", name = ""] of plain.matchAll(/([.\])]?)\s*([\w$]*)\s*\(/g)) {
    const isMethod = before === "." && [TELLING, COPYING, MAPPING, PICKING].some((each) => each.has(name));
    const isGroup = before === "" && (name === "" || WORDS.has(name));
    if (!isMethod && !isGroup) return false;
  }
  return true;
}

/** `tag= expression`, `each x in expression`, `if expression`, or a tag with its text; nothing in parentheses. */
function isReadingPug(line: string): boolean {
  const code =
    /^\s*(?:[\w.#-]+)?!?=(.*)$/.exec(line) ?? /^\s*(?:each|if|unless|else if|case|when)\b(.*)$/.exec(line);
  const inTexts = [...line.matchAll(/[#!]\{([^}]*)\}/g)].map(([, inner = ""]) => inner);
  if (/^\s*(?:-|\+|:|include\b|extends\b|mixin\b|block\b|while\b|for\b)/.test(line)) return false;
  if (code !== null) return isReading(code[1] ?? "") && inTexts.length === 0;
  const isPlain = /^\s*(?:[\w#.-]+|\|)?(?:\s[^(]*)?$/.test(line.replace(/[#!]\{[^}]*\}/g, ""));
  return isPlain && !line.includes("#[") && inTexts.every(isReading);
}
