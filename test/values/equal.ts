import assert from "node:assert/strict";
import { same } from "#src/state/same.js";
import { copy } from "#src/state/values.js";

/** What a context that gets the value would see of it. */
export function seen(value: unknown): unknown {
  return copy(value, () => "the value");
}

/** Equal as the runtime compares, and by a text of everything there is to a value, which knows nothing of the runtime. */
export function assertArrived(actual: unknown, sent: unknown, where: string): void {
  const expected = seen(sent);
  assert.equal(told(actual), told(expected), where);
  assert.ok(
    same(actual, expected) && same(expected, actual),
    `${where}: the runtime tells ${told(actual)} apart`,
  );
}

/** Two values have the same text only if nobody can tell one from the other: the order of names and entries counts. */
export function told(value: unknown): string {
  switch (typeof value) {
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "string":
      return JSON.stringify(value);
    case "object":
      return value === null ? "null" : toldObject(value);
    default:
      return String(value);
  }
}

function toldObject(value: object): string {
  const type = (Object.getPrototypeOf(value) as { constructor: { name: string } }).constructor.name;
  if (value instanceof Date) return `Date ${value.getTime()}`;
  if (ArrayBuffer.isView(value))
    return `${type} ${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
  if (value instanceof ArrayBuffer) return `${type} ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return `[${value.map(told).join()}]`;
  if (value instanceof Map)
    return `Map{${[...value].map(([key, item]) => `${told(key)}=>${told(item)}`).join()}}`;
  if (value instanceof Set) return `Set{${[...value].map(told).join()}}`;
  const text =
    value instanceof Error ? ` ${told(value.name)} ${told(value.message)} ${told(value.cause)}` : "";
  const hidden = value instanceof Error ? ["name", "cause"] : [];
  const fields = Object.entries(value).filter(([name]) => !hidden.includes(name));
  return `${type}${text}{${fields.map(([name, item]) => `${told(name)}:${told(item)}`).join()}}`;
}
