import { BYTE_VIEWS } from "./codec-kinds.js";

/** Bytes and what they are seen through. A copy has memory of its own, and no more of it than was to be seen. */

type View = new (bytes: ArrayBuffer) => ArrayBufferView;

const VIEWS = new Map<unknown, View>(
  BYTE_VIEWS.filter((type) => type !== ArrayBuffer).map((type) => [type.prototype, type as unknown as View]),
);

/** Bytes that their maker has given away with a call: they are passed on as they are, instead of copies. */
const givenAway = new WeakSet<Uint8Array>();

/** Fewer bytes are copied as fast, and may be part of memory that they share with others. */
const GIVEN_MIN = 16 * 1024;

/**
 * The same bytes as an argument of one call, which is not copied. The maker must not use them any more, and the method must not change
 * them in another way than an attempt before it has: for the engine's own records, which are as large as a batch.
 */
export function given(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteLength < GIVEN_MIN || 2 * byteLength < buffer.byteLength) return bytes;
  const away = new Uint8Array(buffer, byteOffset, byteLength);
  givenAway.add(away);
  return away;
}

function copyBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength >= GIVEN_MIN && givenAway.has(bytes) ? bytes : new Uint8Array(bytes);
}

/** The copy; null if it is no view, or one of a class of the program's own. */
export function copyView(value: object, prototype: unknown): ArrayBufferView | null {
  if (prototype === Uint8Array.prototype) return copyBytes(value as Uint8Array);
  const Type = VIEWS.get(prototype);
  return Type === undefined ? null : viewOf(Type, new Uint8Array(bytesIn(value as ArrayBufferView)));
}

/** Unshared bytes, seen through a view. */
export function viewOf(Type: View, { buffer }: Uint8Array<ArrayBuffer>): ArrayBufferView {
  return (Type as unknown) === Buffer ? Buffer.from(buffer) : new Type(buffer);
}

/** For two that are seen through the same. */
export function sameBytes(live: ArrayBuffer | ArrayBufferView, kept: ArrayBuffer | ArrayBufferView): boolean {
  return Buffer.compare(bytesIn(live), bytesIn(kept)) === 0;
}

function bytesIn(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}
