import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** What the first pages of a data file say, looked at without lmdb. */
export type DataFileHeader =
  | { readonly kind: "missing" }
  | { readonly kind: "broken"; readonly why: string }
  | { readonly kind: "fine"; readonly bytes: number; readonly bytesMax: number };

const PAGE_HEAD_BYTES = 24;
const MAGIC = 0xbeefc0de;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65536;

/** `bytesMax` is where the last page ends. The file may be shorter, if the last pages are free ones that were never written. */
export function headerOf(file: string): DataFileHeader {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { kind: "missing" };
    throw error;
  }
  try {
    const bytes = fstatSync(handle).size;
    if (bytes === 0) return { kind: "missing" };
    const first = metaAt(handle, 0);
    if (first === null) return { kind: "broken", why: "does not start as a data file does" };
    const second = metaAt(handle, first.pageBytes);
    if (second === null) return { kind: "broken", why: "has a damaged header" };
    const newest = first.transaction >= second.transaction ? first : second;
    const bytesMax = (newest.lastPage + 1) * newest.pageBytes;
    return { kind: "fine", bytes, bytesMax };
  } finally {
    closeSync(handle);
  }
}

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: bigint;
}

/** One of the two pages that lmdb writes by turns, at the end of each transaction. */
function metaAt(handle: number, position: number): Meta | null {
  const page = Buffer.alloc(PAGE_HEAD_BYTES + 144);
  if (readSync(handle, page, 0, page.length, position) !== page.length) return null;
  const meta = page.subarray(PAGE_HEAD_BYTES);
  const pageBytes = meta.readUInt32LE(24);
  const isPowerOfTwo = (pageBytes & (pageBytes - 1)) === 0;
  if (meta.readUInt32LE(0) !== MAGIC || !isPowerOfTwo) return null;
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return null;
  return { pageBytes, lastPage: Number(meta.readBigUInt64LE(120)), transaction: meta.readBigUInt64LE(128) };
}
