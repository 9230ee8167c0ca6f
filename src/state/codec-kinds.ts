import type { TrackedKind } from "../model/collections.js";

/**
 * Values that MessagePack has no word for. Each is written as an array that begins with null and the number of its
 * kind. An array of the program's own that begins with null is written in this way, too, so there is no mistaking one
 * for the other. The numbers are in journals: new ones are added, old ones stay.
 */
export const KIND = {
  undefined: 0,
  minusZero: 1,
  text: 2,
  bigint: 3,
  date: 4,
  map: 5,
  set: 6,
  bytes: 7,
  record: 8,
  error: 9,
  instance: 10,
  headwaterError: 11,
  tracked: 12,
  array: 13,
} as const;

export const TRACKED_KINDS: readonly TrackedKind[] = ["map", "set", "list", "owned"];

/** What bytes are seen through. The order is in journals, too. */
export const BYTE_VIEWS = [
  ArrayBuffer,
  DataView,
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
  Buffer,
] as const;
