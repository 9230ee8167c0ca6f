import type { State } from "./fields.js";
import type { OwnedStore } from "./owned-store.js";
import { entriesOf } from "./tracked-content.js";
import { storeOf, Version } from "./tracked-version.js";

/** Of a collection, so many items are looked at; the others are taken to be like them. */
const ITEMS_SAMPLED = 16;
const DEPTH_MAX = 4;
const [OBJECT_BYTES, NUMBER_BYTES, ITEM_BYTES] = [32, 8, 40];

/** About how many bytes a state takes in memory, at a cost that does not depend on its size. */
export function roughBytes(state: State): number {
  return state.reduce<number>((sum, value) => sum + bytesOf(value, DEPTH_MAX), OBJECT_BYTES);
}

function bytesOf(value: unknown, depth: number): number {
  if (typeof value === "string") return OBJECT_BYTES + value.length;
  if (typeof value !== "object" || value === null || depth === 0) return NUMBER_BYTES;
  if (value instanceof Version && value.kind === "owned") return ownedBytes(storeOf(value) as OwnedStore);
  if (value instanceof Version) return ofMany(value.size, entries(value), depth);
  if (Array.isArray(value)) return ofMany(value.length, value, depth);
  if (value instanceof Map) return ofMany(value.size, value, depth);
  if (value instanceof Set) return ofMany(value.size, value, depth);
  if (ArrayBuffer.isView(value)) return OBJECT_BYTES + value.byteLength;
  const own = Object.values(value);
  return ofMany(own.length, own, depth);
}

function ownedBytes({ recordBytes, partBytes, records, seat }: OwnedStore): number {
  return OBJECT_BYTES + recordBytes + partBytes + records * ITEM_BYTES + (seat.engine?.memoryBytes ?? 0);
}

function ofMany(size: number, items: Iterable<unknown>, depth: number): number {
  let [seen, bytes] = [0, 0];
  for (const item of items) {
    bytes += bytesOf(item, depth - 1);
    seen += 1;
    if (seen === ITEMS_SAMPLED) break;
  }
  return OBJECT_BYTES + (seen === 0 ? 0 : (bytes / seen + ITEM_BYTES) * size);
}

/** While an event works on a collection, the way to its content is long: it counts with what is known. */
function* entries(version: Version): Iterable<unknown> {
  if (version.store === null) return;
  for (const { key, value } of entriesOf(version)) yield [key, value];
}
