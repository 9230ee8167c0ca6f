import { builtins, checkLength, RowError } from "./builtin.js";

export const TEXT_BUILTINS = builtins({
  "lpad : text int4 -> text": (text: string, length: number) => padded(text, length, " ", true),
  "lpad : text int4 text -> text": (text: string, length: number, fill: string) =>
    padded(text, length, fill, true),
  "rpad : text int4 -> text": (text: string, length: number) => padded(text, length, " ", false),
  "rpad : text int4 text -> text": (text: string, length: number, fill: string) =>
    padded(text, length, fill, false),
  "repeat : text int4 -> text": (text: string, times: number) => {
    const count = Math.max(0, times);
    checkLength(text.length * count);
    return text.repeat(count);
  },
  "initcap : text -> text": (text: string) =>
    text.toLowerCase().replace(/[\p{L}\p{N}]+/gu, (word) => {
      const [first = "", ...rest] = word;
      return first.toUpperCase() + rest.join("");
    }),
  "ascii : text -> int4": (text: string) => text.codePointAt(0) ?? 0,
  "chr : int4 -> text": (code: number) => {
    if (code <= 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      throw new RowError("54000", "requested character is not valid");
    return String.fromCodePoint(code);
  },
  "translate : text text text -> text": (text: string, from: string, to: string) => {
    const [sources, targets] = [[...from], [...to]];
    return [...text]
      .map((letter) => {
        const at = sources.indexOf(letter);
        return at < 0 ? letter : (targets[at] ?? "");
      })
      .join("");
  },
  "octet_length : text -> int4": (text: string) => Buffer.byteLength(text),
  "bit_length : text -> int4": (text: string) => 8 * Buffer.byteLength(text),
  "to_hex : int4 -> text": (value: number) => (value >>> 0).toString(16),
  "overlay : text text int4 -> text": (text: string, by: string, start: number) =>
    overlaid(text, by, start, [...by].length),
  "overlay : text text int4 int4 -> text": overlaid,
});

/** To the length, and cut to it if it is longer. */
function padded(text: string, length: number, fill: string, isLeft: boolean): string {
  checkLength(length);
  const letters = [...text];
  const lacking = length - letters.length;
  if (lacking <= 0) return letters.slice(0, Math.max(0, length)).join("");
  const filling = [...fill];
  if (filling.length === 0) return text;
  const added = Array.from({ length: lacking }, (_, i) => filling[i % filling.length]).join("");
  return isLeft ? added + text : text + added;
}

function overlaid(text: string, by: string, start: number, count: number): string {
  if (start <= 0) throw new RowError("22011", "negative substring length not allowed");
  const letters = [...text];
  const before = letters.slice(0, start - 1);
  return [...before, by, ...letters.slice(Math.max(0, start - 1 + count))].join("");
}
