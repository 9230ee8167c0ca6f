import { checkLength } from "../../../sql/index.js";
import { RowError } from "./row-error.js";

/** Texts are counted in characters (code points), as in PostgreSQL, and compared by them. */

const ASTRAL = /[\ud800-\udfff]/;

/** As an array of characters where that differs from the string itself. */
function characters(text: string): string | string[] {
  return ASTRAL.test(text) ? [...text] : text;
}

function joined(part: string | string[]): string {
  return typeof part === "string" ? part : part.join("");
}

export function length(text: string): number {
  return characters(text).length;
}

/** From `start`, counted from 1, which may lie before the text. */
export function substring(text: string, start: number, count?: number): string {
  if (count !== undefined && count < 0) throw new RowError("22011", "negative substring length not allowed");
  const end = count === undefined ? Number.POSITIVE_INFINITY : start + count;
  return joined(characters(text).slice(Math.max(start - 1, 0), Math.max(end - 1, 0)));
}

/** A negative count leaves out so many at the other end. */
export function left(text: string, count: number): string {
  return joined(characters(text).slice(0, count));
}

export function right(text: string, count: number): string {
  const all = characters(text);
  return joined(count >= 0 ? all.slice(Math.max(all.length - count, 0)) : all.slice(-count));
}

export function trim(text: string, set = " "): string {
  return trimEnd(trimStart(text, set), set);
}

export function trimStart(text: string, set = " "): string {
  const all = [...text];
  const unwanted = new Set(set);
  const first = all.findIndex((each) => !unwanted.has(each));
  return first < 0 ? "" : all.slice(first).join("");
}

export function trimEnd(text: string, set = " "): string {
  const all = [...text];
  const unwanted = new Set(set);
  return all.slice(0, all.findLastIndex((each) => !unwanted.has(each)) + 1).join("");
}

export function replace(text: string, from: string, to: string): string {
  if (from === "" || !text.includes(from)) return text;
  if (to.length <= from.length && !to.includes("$")) return text.replaceAll(from, to);
  const parts = text.split(from);
  if (to.length > from.length) checkLength(text.length + (parts.length - 1) * (to.length - from.length));
  return parts.join(to);
}

/** What was put together of several texts. */
export function shortEnough(text: string): string {
  checkLength(text.length);
  return text;
}

/** The nth part, counted from 1, or from the end if n is negative. */
export function splitPart(text: string, delimiter: string, n: number): string {
  if (n === 0) throw new RowError("22023", "field position must not be zero");
  if (delimiter === "" || n < 0) {
    const parts = delimiter === "" ? [text] : text.split(delimiter);
    return parts.at(n > 0 ? n - 1 : n) ?? "";
  }
  let start = 0;
  for (let left = n - 1; left > 0; left--) {
    const at = text.indexOf(delimiter, start);
    if (at < 0) return "";
    start = at + delimiter.length;
  }
  const end = text.indexOf(delimiter, start);
  return end < 0 ? text.slice(start) : text.slice(start, end);
}

export function position(text: string, part: string): number {
  const at = text.indexOf(part);
  return at < 0 ? 0 : length(text.slice(0, at)) + 1;
}

export function reverse(text: string): string {
  return [...text].reverse().join("");
}

export function startsWith(text: string, prefix: string): boolean {
  return text.startsWith(prefix);
}

export function lower(text: string): string {
  return text.toLowerCase();
}

export function upper(text: string): string {
  return text.toUpperCase();
}
