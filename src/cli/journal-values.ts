import { Unpackr } from "msgpackr";
import { decode } from "../state/codec.js";
import { checkBytes } from "../state/codec-check.js";
import { preview } from "../state/preview.js";

/** Maps stay Maps here: names that a program chose, `__proto__` among them, must not become properties unseen. */
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: "bigint" });

/** An item of a tracked list that is null: `encode` makes these bytes of no value. */
const NULL_ITEM = Uint8Array.of(0x91, 0xc0);

/**
 * A stored value as JSON. What JSON has no word for is an object with one field whose name begins with "$", as in the
 * API (docs/server.md). Values that hold instances of the program's own classes cannot be made again without the
 * program: they are shown as MessagePack says them, and what is none of this as bytes.
 */
export function jsonOf(bytes: Uint8Array): string {
  if (Buffer.compare(bytes, NULL_ITEM) === 0) return "[null]";
  const readings = [() => preview(decode(bytes)), () => packed(bytes)];
  for (const read of readings) {
    try {
      return JSON.stringify(read());
    } catch {
      // Whatever is wrong with it, the next reading has to do.
    }
  }
  return JSON.stringify(preview(bytes));
}

function packed(bytes: Uint8Array): unknown {
  checkBytes(bytes);
  return { $packed: preview(unpackr.unpack(bytes)) };
}
