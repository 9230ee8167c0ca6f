/**
 * Do instances of a class have private fields or methods of its own? Nothing but the text of the class tells: a copy of an
 * instance would lack them, and its methods would fail where they use them.
 */
export function hasPrivateNames(cls: (...args: never[]) => unknown): boolean {
  const text = Function.prototype.toString.call(cls);
  if (!text.startsWith("class")) return false;
  if (!text.includes("#")) return LOWERED.test(text);
  const code = withoutTexts(text);
  return LOWERED.test(code) || declaresPrivate(code);
}

/** The private fields of a class of its own, as it names them; methods are not among them. */
export function privateFieldsOf(cls: { toString(): string }): string[] {
  const text = Function.prototype.toString.call(cls);
  const fields = new Set<string>();
  for (const [, ...names] of text.matchAll(LOWERED_FIELD)) fields.add(names.find((name) => name) ?? "");
  if (text.startsWith("class") && text.includes("#")) {
    for (const { name, isField } of declaredPrivate(withoutTexts(text))) if (isField) fields.add(name);
  }
  return [...fields];
}

/** What compilers make of private fields, but not of private methods, for older engines: TypeScript, esbuild, Babel. */
const LOWERED_FIELD =
  /\b(?:__classPrivateField[GS]et\(this, *([\w$]+), *(?:[^()]+, *)?["']f["']|__private(?:Add\(this, *([\w$]+),|Get\(this, *([\w$]+)\))|_classPrivateFieldInitSpec\(this, *([\w$]+),)/g;

/** What compilers make of private names for older engines: TypeScript, esbuild, Babel. */
const LOWERED =
  /\b(?:__classPrivateField[GS]et|__private(?:Add|Get|Set)|_classPrivate\w*(?:InitSpec|Get2?|Set2?))\(this\b/;

/** Text that is not code, or may begin with it: comments, texts, regular expressions where an expression may begin. */
const TEXT =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|(?<=(?:[=(,;:!&|?{}[\]+\-*%~^<>]|\b(?:return|typeof|case|in|of))\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*|[`{}]/g;

/** The code alone. Texts in backquotes have code in them, which may have such texts in it, and so on. */
function withoutTexts(text: string): string {
  let code = "";
  let at = 0;
  /** For each text in backquotes around this place, how many braces are open in its code. */
  const open: number[] = [];
  TEXT.lastIndex = 0;
  for (let found = TEXT.exec(text); found !== null; found = TEXT.exec(text)) {
    const [token] = found;
    const depth = open.at(-1);
    code += text.slice(at, found.index);
    at = TEXT.lastIndex;
    if (token === "`" || (token === "}" && depth === 0)) {
      if (token === "}") open.pop();
      at = endOfPart(text, at);
      const isCodeNext = text[at - 1] === "{";
      code += isCodeNext ? " +" : ' ""';
      if (isCodeNext) open.push(0);
      TEXT.lastIndex = at;
    } else if (token === "{" || token === "}") {
      code += token;
      if (depth !== undefined) open[open.length - 1] = depth + (token === "{" ? 1 : -1);
    } else {
      code += token.startsWith("/*") || token.startsWith("//") ? " " : '""';
    }
  }
  return code + text.slice(at);
}

/** Where a text in backquotes, or the part of it that begins here, ends: behind the quote or behind "${". */
function endOfPart(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "`") return at + 1;
    else if (text[at] === "$" && text[at + 1] === "{") return at + 2;
  }
  return text.length;
}

const TOKEN = /[\p{ID_Continue}$]+|\S/gu;

/** What stands between the members of a class, or before the name of one. Behind anything else, a private name is used. */
const BEFORE_NAME = new Set(["{", "}", ";", "*", "static", "async", "get", "set", "accessor"]);

/** Is there a private name right in the body of the class that is not static? */
function declaresPrivate(code: string): boolean {
  return !declaredPrivate(code).next().done;
}

interface PrivateName {
  readonly name: string;
  readonly isField: boolean;
}

/** The private names right in the body of the class that are not static. */
function* declaredPrivate(code: string): Generator<PrivateName> {
  let depth = 0;
  let isStatic = false;
  let before = "";
  const tokens = Array.from(code.matchAll(TOKEN), ([token]) => token);
  for (const [i, token] of tokens.entries()) {
    if (token === "#" && depth === 1 && !isStatic && (BEFORE_NAME.has(before) || endsField(before))) {
      const isField = tokens[i + 2] !== "(" && before !== "get" && before !== "set";
      yield { name: `#${tokens[i + 1]}`, isField };
    }
    if ("{([".includes(token)) depth += 1;
    else if ("})]".includes(token)) depth -= 1;
    isStatic = token === "static" || (isStatic && BEFORE_NAME.has(token) && !"{};".includes(token));
    before = token;
  }
}

/** A field may end without a semicolon: behind a name, a number, a text or a bracket, a private name is the next member. */
function endsField(token: string): boolean {
  return /^(?:[\p{ID_Continue}$]+|[)\]"])$/u.test(token) && token !== "in";
}
