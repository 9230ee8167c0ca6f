/**
 * The checksums of a file that changes no more, in a file beside it. lmdb maps a table into memory and takes every page at its
 * word: a flipped bit hides rows, or ends the process. So a table is compared with its checksums before lmdb sees it.
 */

import { close, fsync, open, read, readFileSync, stat, write } from "node:fs";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { FILE_MODE, isCode } from "../files.js";

const opened = promisify(open);
const closed = promisify(close);
const readInto = promisify(read);
const synced = promisify(fsync);
const written = promisify(write);
const found = promisify(stat);

/** One checksum for so many bytes. */
const CHUNK_BYTES = 2 ** 20;

export interface Sums {
  /** Which journal it belongs to. */
  readonly journal: string;
  /** The table has all groups up to this one. */
  readonly applied: number;
  readonly bytes: number;
  readonly chunks: readonly number[];
}

/** Reads all of the file, in parts, so that the thread is free in between. */
export async function chunksOf(path: string): Promise<{ bytes: number; chunks: number[] }> {
  const handle = await opened(path, "r");
  try {
    const chunks: number[] = [];
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let bytes = 0; ; ) {
      const { bytesRead } = await readInto(handle, buffer, 0, CHUNK_BYTES, bytes);
      if (bytesRead === 0) return { bytes, chunks };
      chunks.push(crc32(buffer.subarray(0, bytesRead)));
      bytes += bytesRead;
      if (bytesRead < CHUNK_BYTES) return { bytes, chunks };
    }
  } finally {
    await closed(handle);
  }
}

/** What is wrong with the file; null if nothing is. */
export async function differenceFrom(path: string, { bytes, chunks }: Sums): Promise<string | null> {
  let now: Pick<Sums, "bytes" | "chunks">;
  try {
    const present = (await found(path)).size;
    if (present !== bytes) return `has ${present} bytes instead of ${bytes}`;
    now = await chunksOf(path);
  } catch (error) {
    // The owner of the journal may also remove it between these two looks.
    if (isCode(error, "ENOENT")) return "is missing";
    throw error;
  }
  const wrong = now.chunks.flatMap((crc, i) => (crc === chunks[i] ? [] : [i]));
  if (wrong.length === 0) return null;
  const places = wrong
    .slice(0, 4)
    .map((i) => `${i * CHUNK_BYTES} to ${Math.min((i + 1) * CHUNK_BYTES, bytes)}`);
  return `has a wrong checksum (bytes ${places.join(", ")}${wrong.length > 4 ? ", …" : ""})`;
}

export async function writeSums(path: string, sums: Sums): Promise<void> {
  const text = JSON.stringify(sums);
  const bytes = Buffer.from(`${String(crc32(text)).padStart(10, "0")}${text}`);
  const handle = await opened(path, "w", FILE_MODE);
  try {
    await written(handle, bytes, 0, bytes.length, 0);
    await synced(handle);
  } finally {
    await closed(handle);
  }
}

/** Null if there are none, or they are damaged themselves. */
export function readSums(path: string): Sums | null {
  try {
    const text = readFileSync(path, "utf8");
    if (crc32(text.slice(10)) !== Number(text.slice(0, 10))) return null;
    return JSON.parse(text.slice(10)) as Sums;
  } catch (error) {
    if (isCode(error, "ENOENT") || error instanceof SyntaxError) return null;
    throw error;
  }
}
