/**
 * The texts that clients send. A simple query may hold several statements, which are told apart here; and clients send
 * statements about their session, which no relation answers: settings, transactions, prepared statements.
 */

/** Cuts a text at its semicolons, outside of quotes and comments. Empty statements are left out. */
export function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let start = 0;
  const add = (end: number) => {
    const statement = text.slice(start, end).trim();
    if (withoutComments(statement) !== "") statements.push(statement);
  };
  for (let at = 0; at < text.length; ) {
    if (text[at] === ";") {
      add(at);
      start = ++at;
    } else at = skipped(text, at);
  }
  add(text.length);
  return statements;
}

/** The place behind what begins at `at`: a quoted text, a comment, or one character. */
function skipped(text: string, at: number): number {
  const rest = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    return found === null ? null : at + found[0].length;
  };
  switch (text[at]) {
    case "'": {
      const isEscaped = /(?:^|[^\w$])[eE]$/.test(text.slice(Math.max(0, at - 2), at));
      return rest(isEscaped ? /'(?:[^'\\]|\\.|'')*'/sy : /'(?:[^']|'')*'/y) ?? text.length;
    }
    case '"':
      return rest(/"(?:[^"]|"")*"/y) ?? text.length;
    case "-":
      return rest(/--[^\n]*/y) ?? at + 1;
    case "/":
      return text[at + 1] === "*" ? behindComment(text, at) : at + 1;
    case "$":
      return behindDollarQuote(text, at);
    default:
      return at + 1;
  }
}

/** Comments in PostgreSQL nest. */
function behindComment(text: string, at: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = at;
  for (let depth = 0, found = marks.exec(text); found !== null; found = marks.exec(text)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return text.length;
}

function behindDollarQuote(text: string, at: number): number {
  const tag = /\$(?:[A-Za-z_]\w*)?\$/y;
  tag.lastIndex = at;
  const found = tag.exec(text);
  if (found === null) return at + 1;
  const end = text.indexOf(found[0], tag.lastIndex);
  return end < 0 ? text.length : end + found[0].length;
}

function withoutComments(text: string): string {
  let left = "";
  for (let at = 0; at < text.length; ) {
    const next = skipped(text, at);
    if (text[at] !== "-" && text[at] !== "/") left += text.slice(at, next);
    else if (next === at + 1) left += text[at];
    at = next;
  }
  return left.trim();
}

/** What a statement about the session does. */
export type SessionStatement =
  | { readonly kind: "begin" | "commit" | "rollback" }
  | { readonly kind: "set"; readonly tag: string }
  | { readonly kind: "show"; readonly name: string }
  /** One row with one value, of a function about the server or the session. */
  | { readonly kind: "value"; readonly name: string; readonly of: "version" | "database" | "user" | "schema" }
  | { readonly kind: "deallocate"; readonly name: string | null };

const VALUES: Readonly<Record<string, Extract<SessionStatement, { kind: "value" }>["of"]>> = {
  version: "version",
  current_database: "database",
  current_catalog: "database",
  current_user: "user",
  session_user: "user",
  user: "user",
  current_schema: "schema",
};

/** Null if it is a query. */
export function sessionStatement(statement: string): SessionStatement | null {
  const text = withoutComments(statement).replace(/\s+/g, " ");
  const [first = "", second = ""] = text.toLowerCase().split(" ");
  switch (first) {
    case "begin":
    case "start":
      return { kind: "begin" };
    case "commit":
    case "end":
      return { kind: "commit" };
    case "rollback":
    case "abort":
      return { kind: "rollback" };
    case "set":
    case "reset":
    case "discard":
      return {
        kind: "set",
        tag: first === "discard" ? `DISCARD ${second.toUpperCase()}` : first.toUpperCase(),
      };
    case "show":
      return { kind: "show", name: text.slice(5).replaceAll('"', "").toLowerCase() };
    case "deallocate": {
      const name = text.replace(/^deallocate (?:prepare )?/i, "").replaceAll('"', "");
      return { kind: "deallocate", name: name.toLowerCase() === "all" ? null : name };
    }
    default: {
      const called = /^select (?:pg_catalog\.)?(\w+) ?(?:\( ?\))?(?: as "?(\w+)"?)?$/i.exec(text);
      const of = called === null ? undefined : VALUES[(called[1] ?? "").toLowerCase()];
      return of === undefined ? null : { kind: "value", name: called?.[2] ?? called?.[1] ?? "", of };
    }
  }
}
