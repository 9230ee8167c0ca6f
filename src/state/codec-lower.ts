import { HeadwaterError, invariant } from "../errors.js";
import { isWellFormed } from "../model/key.js";
import { BYTE_VIEWS, KIND, TRACKED_KINDS } from "./codec-kinds.js";
import { ownedSummary } from "./owned-live.js";
import { registeredName } from "./registered.js";
import { entriesOf } from "./tracked-content.js";
import { Version } from "./tracked-version.js";
import { copy, errorFields, inheritedType } from "./values.js";

/** From plain data to what MessagePack has words for. */

const UNDEFINED = [null, KIND.undefined];
const MINUS_ZERO = [null, KIND.minusZero];

function marked(kind: number, ...rest: unknown[]): unknown[] {
  return [null, kind, ...rest];
}

/** The value in the words of MessagePack; itself if it is in them already. */
export function lower(value: unknown): unknown {
  switch (typeof value) {
    case "object":
      return value === null ? null : lowerObject(value);
    case "number":
      return value === 0 && 1 / value < 0 ? MINUS_ZERO : value;
    case "string":
      // UTF-8 has no word for half a surrogate pair.
      return isWellFormed(value) ? value : marked(KIND.text, Buffer.from(value, "utf16le"));
    case "boolean":
      return value;
    case "undefined":
      return UNDEFINED;
    case "bigint":
      return marked(KIND.bigint, value.toString(16));
    default:
      return refuse(value);
  }
}

function lowerObject(value: object): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) return lowerItems(value as unknown[]);
  if (prototype === Object.prototype || prototype === null) return lowerFields(value);
  if (prototype === Map.prototype) {
    const pairs = marked(KIND.map);
    for (const [key, item] of value as Map<unknown, unknown>) pairs.push(lower(key), lower(item));
    return pairs;
  }
  if (prototype === Set.prototype) {
    const items = marked(KIND.set);
    for (const item of value as Set<unknown>) items.push(lower(item));
    return items;
  }
  return lowerInstance(value, prototype);
}

function lowerItems(items: unknown[]): unknown[] {
  let lowered: unknown[] | null = null;
  for (let i = 0; i < items.length; i++) {
    const item = lower(items[i]);
    if (lowered === null && Object.is(item, items[i])) continue;
    lowered ??= items.slice();
    lowered[i] = item;
  }
  return items[0] === null ? [null, KIND.array, ...(lowered ?? items)] : (lowered ?? items);
}

function lowerFields(value: object): unknown {
  const fields = value as Record<string, unknown>;
  const names = Object.keys(fields);
  let lowered: Record<string, unknown> | null = null;
  for (const name of names) {
    if (name === "__proto__") return refuse(value);
    if (!isWellFormed(name)) return [...marked(KIND.record), ...lowerPairs(fields, names)];
    const item = lower(fields[name]);
    if (Object.is(item, fields[name])) continue;
    lowered ??= { ...fields };
    lowered[name] = item;
  }
  return lowered ?? fields;
}

function lowerPairs(fields: Record<string, unknown>, names: readonly string[]): unknown[] {
  return names.flatMap((name) => [lower(name), lower(fields[name])]);
}

function lowerInstance(value: object, prototype: unknown): unknown {
  if (prototype === Date.prototype) return marked(KIND.date, (value as Date).getTime());
  if (value instanceof ArrayBuffer) return marked(KIND.bytes, 0, new Uint8Array(value));
  if (ArrayBuffer.isView(value)) {
    const view = BYTE_VIEWS.findIndex((type) => type.prototype === prototype);
    if (view < 0) return refuse(value);
    return marked(KIND.bytes, view, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
  if (value instanceof Version) return lowerVersion(value);
  const fields = value as Record<string, unknown>;
  const name = registeredName(value.constructor);
  if (name !== undefined) {
    const message = value instanceof Error ? lower(value.message) : null;
    return [...marked(KIND.instance, lower(name), message), ...lowerPairs(fields, Object.keys(fields))];
  }
  if (value instanceof Error) return lowerError(value);
  return refuse(value);
}

function lowerError(error: Error): unknown {
  const cause = error.cause === undefined ? [] : [lower(error.cause)];
  if (error instanceof HeadwaterError) {
    return marked(KIND.headwaterError, error.code, lower(error.message), cause);
  }
  const fields = errorFields(error).flatMap(([name, item]) => [lower(name), lower(item)]);
  const texts = [lower(error.name), lower(error.message)];
  return [...marked(KIND.error, inheritedType(error).name, ...texts, cause), ...fields];
}

function lowerVersion(version: Version): unknown {
  const lowered = marked(KIND.tracked, TRACKED_KINDS.indexOf(version.kind));
  const entries = version.kind === "owned" ? ownedSummary(version) : entriesOf(version);
  for (const { key, sequence, value } of entries) lowered.push(lower(key), sequence, lower(value));
  return lowered;
}

/** Fields and messages are copied before they are written, so this is not met by users. */
function refuse(value: unknown): never {
  copy(value, () => "what is to be written");
  invariant(false, "there is plain data that cannot be written as bytes");
}
