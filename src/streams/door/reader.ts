import { isUtf8 } from "node:buffer";
import { HeadwaterError } from "../../errors.js";
import type { Batch, Schema } from "../columns/index.js";

/** Reads records from bytes that come in pieces. */
export interface Reader {
  readonly schema: Schema;
  /**
   * The whole records at the beginning of `bytes` as a batch, and how many bytes they took; the rest comes again with more
   * behind it. After the last piece nothing is left over. Throws HW-5302 at the first record that does not fit.
   */
  read(bytes: Buffer, isLast: boolean): { readonly batch: Batch; readonly used: number };
}

export interface DoorLimits {
  /** No record is longer. */
  readonly recordBytesMax: number;
}

export const DOOR_LIMITS: DoorLimits = { recordBytesMax: 1024 * 1024 };

/** A record that does not fit, by its line (from 1) and the byte of the input that it begins at (from 0). */
export function refusal(line: number, byte: number, what: string, options?: ErrorOptions): HeadwaterError {
  return new HeadwaterError("HW-5302", `Line ${line} (byte ${byte}): ${what}`, options);
}

/** Where the bytes stop being UTF-8; -1 if they are. */
export function invalidUtf8(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1;
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    // A prefix may end inside a character: cut back to where one begins.
    if (isUtf8(bytes.subarray(0, characterStart(bytes, middle)))) low = middle;
    else high = middle - 1;
  }
  return characterStart(bytes, low);
}

/** The place itself, or the first byte of the character that it is inside of. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

/** A value as it is shown in a message: short, on one line. */
export function shown(text: string): string {
  const line = JSON.stringify(text);
  return line.length <= 60 ? line : `${line.slice(0, 57)}…"`;
}
