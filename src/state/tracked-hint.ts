import type { Address } from "../model/address.js";
import type { ContextClass } from "../model/context.js";

/** An event pays for all items of a plain field, so beyond this many a tracked collection is worth it. */
const ITEMS_MAX = 10_000;

const warned = new WeakMap<ContextClass, Set<string>>();

/** Warns, once per class and field, of a plain field that has grown large. Called where the field is copied anyway. */
export function hintAtSize(value: unknown, address: Address, field: string): void {
  const items = itemsIn(value);
  if (items === null || (items.size <= ITEMS_MAX && !hasManyInside(items))) return;
  const { cls, name } = address.shape;
  const fields = warned.get(cls) ?? new Set();
  if (fields.has(field)) return;
  warned.set(cls, fields.add(field));
  const kind =
    value instanceof Map ? "map" : value instanceof Set ? "set" : Array.isArray(value) ? "list" : "map";
  process.emitWarning(
    `${name}.${field} holds more than ${ITEMS_MAX} items. Every event in this context pays for all of them. Declare it ` +
      `as \`${field} = tracked.${kind}()\`, and events pay for what they change; or spread it over several contexts.`,
    "HeadwaterLargeField",
  );
}

interface Items {
  readonly size: number;
  readonly each: Iterable<unknown>;
}

function itemsIn(value: unknown): Items | null {
  if (Array.isArray(value)) return { size: value.length, each: value };
  if (value instanceof Map) return { size: value.size, each: value.values() };
  if (value instanceof Set) return { size: value.size, each: value };
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return null;
  const each = Object.values(value);
  return { size: each.length, each };
}

/** Looks one level deep, at sizes alone, and only as long as there are sizes to be seen. */
function hasManyInside({ size, each }: Items): boolean {
  let count = size;
  for (const item of each) {
    if (Array.isArray(item)) count += item.length;
    else if (item instanceof Map || item instanceof Set) count += item.size;
    else return false;
    if (count > ITEMS_MAX) return true;
  }
  return false;
}
