import { HeadwaterError } from "../errors.js";
import { cannotTravel, forbiddenField, fromForm, isForbiddenField, toForm } from "../protocol/index.js";
import { shown } from "./log.js";

/**
 * JSON from strangers. `JSON.parse` decides what is JSON and makes the value. It would swallow some things without a word: two
 * equal names, numbers that JavaScript cannot keep, halves of surrogate pairs, nesting without end. So the text is gone through
 * once before, character by character, and the value once after. Both together take about as long as `JSON.parse`.
 */

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The value that a body stands for. */
export function parseJson(body: Uint8Array, depthMax: number): unknown {
  const text = decoded(body);
  const scanned = scan(text, depthMax);
  const form = parsed(text);
  if (scanned.inexact !== null) throw beyond(scanned.inexact);
  const names = countNames(form, scanned.hasEscapes);
  if (names < scanned.names) throw cannotTravel("an object has the same field twice");
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

interface Scanned {
  /** How many names of fields there are. */
  readonly names: number;
  /** Is something written as "\u…"? Only so can half of a surrogate pair be in what is UTF-8. */
  readonly hasEscapes: boolean;
  /** A number that would not be kept. */
  readonly inexact: string | null;
}

const [QUOTE, BACKSLASH, COLON, SMALL_U] = [0x22, 0x5c, 0x3a, 0x75];
const [ZERO, NINE, POINT] = [0x30, 0x39, 0x2e];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Numbers with fewer digits are all kept. */
const DIGITS_KEPT = 15;

/** Looks at a text that may not even be JSON. Its depth is refused at once, so that nothing works its way down first. */
function scan(text: string, depthMax: number): Scanned {
  const { length } = text;
  let [depth, names, hasEscapes] = [0, 0, false];
  let inexact: string | null = null;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at += 1; at < length; at++) {
        const inside = text.charCodeAt(at);
        if (inside === QUOTE) break;
        if (inside !== BACKSLASH) continue;
        at += 1;
        hasEscapes ||= text.charCodeAt(at) === SMALL_U;
      }
    } else if (code >= ZERO && code <= NINE) {
      const from = at;
      let hasExponent = false;
      for (; at + 1 < length; at++) {
        const next = text.charCodeAt(at + 1);
        if (next >= ZERO && next <= NINE) continue;
        if (!isOfNumber(next)) break;
        hasExponent ||= next !== POINT;
      }
      if (inexact === null && (hasExponent || at - from >= DIGITS_KEPT)) {
        const token = text.slice(from, at + 1);
        if (isInexact(token)) inexact = token;
      }
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > depthMax) throw cannotTravel(`it is nested more than ${depthMax} deep`);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
    } else if (code === COLON) {
      names += 1;
    }
  }
  return { names, hasEscapes, inexact };
}

/** ".", "e", "E", "+" or "-". */
function isOfNumber(code: number): boolean {
  return code === POINT || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d;
}

const NUMBER = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Would a number, without its sign, become another one? Up to 2^53 all whole numbers are kept, and fractions are as near as
 * JavaScript has them, as everywhere. Beyond it a number must come back as it was written, in any notation; and one that is
 * written as a whole number is refused there, since it is meant to be counted with.
 */
function isInexact(token: string): boolean {
  const value = Number(token);
  if (!(value > Number.MAX_SAFE_INTEGER)) return false; // or it is no number, and not JSON
  if (value === Infinity) return true;
  const [, , fraction = "", exponent] = NUMBER.exec(token) ?? [];
  if (exponent === undefined && /^0*$/.test(fraction)) return true;
  return canonical(token) !== canonical(String(value));
}

/** The same text for all ways to write a number. */
function canonical(token: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

function beyond(token: string): HeadwaterError {
  return cannotTravel(
    `${shown(token)} is beyond the numbers that JavaScript counts exactly; write {"$bigint": "…"}`,
  );
}

/** Counts the names of all fields, and refuses names and texts that may not be there. */
function countNames(form: unknown, mayHaveHalves: boolean): number {
  if (typeof form === "string") {
    if (mayHaveHalves) refuseHalves(form);
    return 0;
  }
  if (typeof form !== "object" || form === null) return 0;
  let count = 0;
  if (Array.isArray(form)) {
    for (const item of form as unknown[]) {
      if (typeof item === "object" || typeof item === "string") count += countNames(item, mayHaveHalves);
    }
    return count;
  }
  const fields = form as Record<string, unknown>;
  for (const name in fields) {
    if (isForbiddenField(name, true)) throw forbiddenField(name);
    if (mayHaveHalves) refuseHalves(name);
    count += 1 + countNames(fields[name], mayHaveHalves);
  }
  return count;
}

function refuseHalves(text: string): void {
  if (!text.isWellFormed()) throw cannotTravel("a text has half of a surrogate pair");
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
