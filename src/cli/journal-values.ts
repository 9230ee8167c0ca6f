import { Unpackr } from "msgpackr";

/** Maps stay Maps here: a program's names, `__proto__` among them, must not become properties unseen. */
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: "bigint" });

/** A stored value as something that JSON can say. What MessagePack cannot read is shown as bytes. */
export function readable(value: Uint8Array): unknown {
  try {
    return plain(unpackr.unpack(value));
  } catch {
    return bytes(value);
  }
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([name, each]) => [String(name), plain(each)]));
  }
  if (value instanceof Uint8Array) return bytes(value);
  if (typeof value === "bigint") return { bigint: String(value) };
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { number: Object.is(value, -0) ? "-0" : String(value) };
  }
  return value;
}

function bytes(value: Uint8Array): object {
  return { base64: Buffer.from(value).toString("base64") };
}
