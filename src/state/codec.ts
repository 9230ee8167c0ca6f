import { Packr, RESET_BUFFER_MODE, Unpackr } from "msgpackr";
import { checkBytes } from "./codec-check.js";
import { lower } from "./codec-lower.js";
import { raise, raiseItems } from "./codec-raise.js";

/**
 * Plain data as bytes, and back: what the journal keeps and what goes over a wire.
 *
 * The bytes are MessagePack without any of its extensions: null, booleans, numbers, strings, arrays, maps with names
 * as keys. What MessagePack has no word for is an array that begins with null and says what it is (`codec-kinds.ts`).
 * So no reader has to interpret foreign types, and bytes that hold anything else are refused before
 * they are read (`codec-check.ts`).
 *
 * Equal data gives equal bytes, and what comes back is what `copy` would have made of the data. Errors come back
 * without their stack, which is not part of them for `same` either.
 */

const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true });

/** Beyond this, the buffer that encodings are made in is not worth keeping. */
const BUFFER_BYTES_KEPT_MAX = 1 << 20;

/** The bytes of plain data. They belong to the caller. */
export function encode(value: unknown): Uint8Array {
  const packed = packr.pack(lower(value), RESET_BUFFER_MODE);
  const bytes = new Uint8Array(packed);
  if (bytes.length > BUFFER_BYTES_KEPT_MAX) packr.useBuffer(Buffer.allocUnsafeSlow(8192));
  return bytes;
}

/** Views cost more than the reading of small data; msgpackr keeps its views of a buffer with the buffer. */
const scratch = Buffer.allocUnsafeSlow(4096);

/** The data that `encode` made these bytes of. It shares nothing with them. */
export function decode(bytes: Uint8Array): unknown {
  return raise(unpacked(bytes));
}

/**
 * The values that a `ValueWriter` wrote one after the other into one array. That array is not itself a value, so it is
 * never taken for a special one, whatever its first item is: a list that holds null is written as `[null]`.
 */
export function decodeItems(bytes: Uint8Array): unknown[] {
  return raiseItems(unpacked(bytes));
}

function unpacked(bytes: Uint8Array): unknown {
  checkBytes(bytes);
  if (bytes.length > scratch.length) {
    return unpackr.unpack(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  scratch.set(bytes);
  return unpackr.unpack(scratch, bytes.length);
}
