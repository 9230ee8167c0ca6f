import { cannotTravel, forbiddenField, fromForm, isForbiddenField, toForm } from "../client/form.js";
import { HeadwaterError } from "../errors.js";
import { shown } from "./log.js";

/**
 * JSON from strangers. `JSON.parse` decides what is JSON; before its result is used, the text is walked once more for
 * what it would swallow without a word: two equal keys, whole numbers that JavaScript cannot count exactly, halves of
 * surrogate pairs, nesting without end.
 */

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]|true|false|null/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
const WHOLE = /^-?\d+$/;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The value that a body stands for. */
export function parseJson(body: Uint8Array, depthMax: number): unknown {
  const text = decoded(body);
  refuseDepth(text, depthMax);
  const form = parsed(text);
  refuseWhatGetsLost(text);
  return fromForm(form);
}

function decoded(body: Uint8Array): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw cannotTravel("the body is not UTF-8");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HeadwaterError("HW-4005", `the body is not JSON: ${shown(why)}.`);
  }
}

/** Counts brackets outside of texts; before anything else, so that nothing works its way down first. */
function refuseDepth(text: string, depthMax: number): void {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isText) {
      if (character === "\\") i += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') {
      isText = true;
    } else if (character === "[" || character === "{") {
      depth += 1;
      if (depth > depthMax) throw cannotTravel(`it is nested more than ${depthMax} deep`);
    } else if (character === "]" || character === "}") {
      depth -= 1;
    }
  }
}

/** The text is known to be JSON. */
function refuseWhatGetsLost(text: string): void {
  /** For each object that is open the names so far, for each list null. */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (const token of tokensOf(text)) {
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      isName = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (token === ",") {
      isName = open.at(-1) !== null;
    } else if (token.startsWith('"')) {
      const content = JSON.parse(token) as string;
      if (LONE_SURROGATE.test(content)) throw cannotTravel("a text has half of a surrogate pair");
      if (isName) refuseName(content, open.at(-1) ?? null);
      isName = false;
    } else {
      refuseInexact(token);
    }
  }
}

function* tokensOf(text: string): Iterable<string> {
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) {
      at += 1; // white space
    } else {
      at += token.length;
      yield token;
    }
  }
}

function refuseName(name: string, names: Set<string> | null): void {
  if (isForbiddenField(name, true)) throw forbiddenField(name);
  if (names?.has(name)) throw cannotTravel(`an object has the field ${shown(name)} twice`);
  names?.add(name);
}

function refuseInexact(token: string): void {
  const value = Number(token);
  const isInexact = WHOLE.test(token)
    ? !Number.isSafeInteger(value)
    : value === Infinity || value === -Infinity;
  if (isInexact) {
    throw cannotTravel(
      `${shown(token)} is beyond the numbers that JavaScript counts exactly; write {"$bigint": "…"}`,
    );
  }
}

/** A value as JSON. */
export function toJson(value: unknown): string {
  return formJson(toForm(value, false));
}

/** A form as JSON, which has no bytes. */
export function formJson(form: unknown): string {
  return JSON.stringify(form, (_, part: unknown) =>
    part instanceof Uint8Array ? { $bytes: Buffer.from(part).toString("base64") } : part,
  );
}
