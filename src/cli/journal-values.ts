import { Unpackr } from "msgpackr";
import { decode } from "../state/codec.js";
import { checkBytes } from "../state/codec-check.js";
import { entriesOf } from "../state/tracked-content.js";
import { Version } from "../state/tracked-version.js";

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
  const readings = [() => shown(decode(bytes)), () => packed(bytes)];
  for (const read of readings) {
    try {
      return JSON.stringify(read());
    } catch {
      // Whatever is wrong with it, the next reading has to do.
    }
  }
  return JSON.stringify(shown(bytes));
}

function packed(bytes: Uint8Array): unknown {
  checkBytes(bytes);
  return { $packed: shown(unpackr.unpack(bytes)) };
}

function shown(value: unknown): unknown {
  switch (typeof value) {
    case "undefined":
      return { $undefined: true };
    case "bigint":
      return { $bigint: String(value) };
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "object":
      return value === null ? null : shownObject(value);
    default:
      return value;
  }
}

function shownObject(value: object): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (value instanceof Map) return { $map: [...value].map((pair) => pair.map(shown)) };
  if (value instanceof Set) return { $set: [...value].map(shown) };
  if (value instanceof Version) return shownVersion(value);
  if (value instanceof Date) return { $date: Number.isNaN(+value) ? "invalid" : value.toISOString() };
  if (value instanceof ArrayBuffer) return { $typed: ["ArrayBuffer", shown(new Uint8Array(value))] };
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const base64 = { $bytes: bytes.toString("base64") };
    return value instanceof Uint8Array ? base64 : { $typed: [value.constructor.name, base64] };
  }
  if (value instanceof Error) {
    const { name, message } = value;
    return { $error: { name, message, fields: shownFields(value) } };
  }
  const fields = shownFields(value);
  const [first, second] = Object.keys(fields);
  return first?.startsWith("$") && second === undefined ? { $plain: fields } : fields;
}

function shownVersion(version: Version): unknown {
  const entries = [...entriesOf(version)];
  if (version.kind === "map") return { $map: entries.map(({ key, value }) => [shown(key), shown(value)]) };
  if (version.kind === "set") return { $set: entries.map(({ key }) => shown(key)) };
  return entries.map(({ value }) => shown(value));
}

function shownFields(value: object): object {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item)]));
}
