import { HeadwaterError } from "../errors.js";
import type { TrackedKey } from "../model/collections.js";
import { viewOf } from "./bytes.js";
import { unreadable } from "./codec-check.js";
import { BYTE_VIEWS, KIND, TRACKED_KINDS } from "./codec-kinds.js";
import { registeredClass } from "./registered.js";
import { type Content, versionFrom } from "./tracked-content.js";
import type { Version } from "./tracked-version.js";
import { defineHidden, ERROR_TYPES } from "./values.js";

/** From what MessagePack has words for back to plain data. Nothing is called that belongs to the program. */

/** The value again; `lowered` is taken apart. */
export function raise(lowered: unknown): unknown {
  if (!isComposed(lowered)) return lowered;
  if (Array.isArray(lowered)) {
    return lowered[0] === null ? raiseMarked(lowered) : raisedInPlace(lowered);
  }
  if (lowered instanceof Uint8Array) throw unreadable("there is binary data that is not said to be any");
  const fields = lowered as Record<string, unknown>;
  for (const name of Object.keys(fields)) if (isComposed(fields[name])) fields[name] = raise(fields[name]);
  return fields;
}

/** The values in an array that is not itself one. */
export function raiseItems(lowered: unknown): unknown[] {
  if (!Array.isArray(lowered)) throw unreadable("there is a value where several should be");
  return raisedInPlace(lowered);
}

function raisedInPlace(items: unknown[]): unknown[] {
  for (let i = 0; i < items.length; i++) if (isComposed(items[i])) items[i] = raise(items[i]);
  return items;
}

function isComposed(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function raiseMarked(items: readonly unknown[]): unknown {
  const [, kind, first, second] = items;
  switch (kind) {
    case KIND.undefined:
      return undefined;
    case KIND.minusZero:
      return -0;
    case KIND.text:
      return Buffer.from(bytesIn(first)).toString("utf16le");
    case KIND.bigint:
      return raiseBigint(first);
    case KIND.date:
      return new Date(numberIn(first));
    case KIND.map:
      return new Map(pairsIn(items, 2));
    case KIND.set:
      return new Set(items.slice(2).map(raise));
    case KIND.bytes:
      return raiseBytes(numberIn(first), bytesIn(second));
    case KIND.record:
      return withFields({}, pairsIn(items, 2));
    case KIND.error:
      return raiseError(items);
    case KIND.instance:
      return raiseInstance(items);
    case KIND.headwaterError:
      return withCause(HeadwaterError.restored(textIn(first), textIn(raise(second))), items[4]);
    case KIND.tracked:
      return raiseVersion(items);
    case KIND.array:
      return items.slice(2).map(raise);
    default:
      throw unreadable(`there is a value of an unknown kind (${String(kind)})`);
  }
}

function raiseBigint(text: unknown): bigint {
  const digits = /^(-?)([0-9a-f]+)$/.exec(textIn(text));
  if (digits === null) throw unreadable("a bigint is not a number");
  const size = BigInt(`0x${digits[2]}`);
  return digits[1] === "-" ? -size : size;
}

function raiseBytes(view: number, bytes: Uint8Array): unknown {
  const own = new Uint8Array(bytes);
  if (view === 0) return own.buffer;
  const Type = BYTE_VIEWS[view] as (new (buffer: ArrayBuffer) => ArrayBufferView) | undefined;
  const size = (Type as { BYTES_PER_ELEMENT?: number } | undefined)?.BYTES_PER_ELEMENT ?? 1;
  if (Type === undefined || own.byteLength % size !== 0)
    throw unreadable("a typed array does not fit its type");
  return viewOf(Type, own);
}

function raiseError(items: readonly unknown[]): Error {
  const [, , type, name, message, cause] = items;
  const Type = [...ERROR_TYPES.values()].find((known) => known.name === type);
  if (Type === undefined) throw unreadable("there is an error of an unknown type");
  const error = madeWithoutStack(Type, textIn(raise(message)));
  const ownName = textIn(raise(name));
  if (ownName !== error.name) defineHidden(error, "name", ownName);
  for (const [field, item] of pairsIn(items, 6)) defineHidden(error, textIn(field), item, true);
  return withCause(error, cause);
}

function madeWithoutStack(Type: ErrorConstructor, message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = withText(new Type(message), message);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

function withText(error: Error, message: string): Error {
  defineHidden(error, "message", message);
  const stack = () => `${error.name}: ${error.message}`;
  return Object.defineProperty(error, "stack", { get: stack, configurable: true });
}

function withCause(error: Error, cause: unknown): Error {
  if (!Array.isArray(cause)) throw unreadable("an error's cause is missing");
  if (cause.length > 0) defineHidden(error, "cause", raise(cause[0]));
  return error;
}

function raiseInstance(items: readonly unknown[]): object {
  const name = textIn(raise(items[2]));
  const cls = registeredClass(name);
  if (cls === undefined) {
    throw new HeadwaterError(
      "HW-1106",
      `There is a stored instance of ${name}, but no class of that name is registered. Call \`register(${name})\` ` +
        "before the program is run, also if the class is not used any more.",
    );
  }
  const instance = Object.create(cls.prototype) as object;
  if (items[3] !== null) withText(instance as Error, textIn(raise(items[3])));
  return withFields(instance, pairsIn(items, 4));
}

/** Defined, not assigned: a class may have a setter of that name, and reading data must not run code. */
function withFields(to: object, pairs: Iterable<readonly [unknown, unknown]>): object {
  for (const [field, value] of pairs) {
    const name = textIn(field);
    if (name === "__proto__") throw unreadable("an object has a field named __proto__");
    Object.defineProperty(to, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return to;
}

function raiseVersion(items: readonly unknown[]): Version {
  const kind = TRACKED_KINDS[numberIn(items[2])];
  if (kind === undefined || items.length % 3 !== 0) throw unreadable("a tracked collection is incomplete");
  const entries: Content[] = [];
  for (let i = 3; i < items.length; i += 3) {
    entries.push({
      key: raise(items[i]) as TrackedKey,
      sequence: numberIn(items[i + 1]),
      value: raise(items[i + 2]),
    });
  }
  try {
    return versionFrom(kind, entries);
  } catch {
    throw unreadable("a tracked collection has an entry twice, or none where one should be");
  }
}

function pairsIn(items: readonly unknown[], from: number): [unknown, unknown][] {
  if ((items.length - from) % 2 !== 0) throw unreadable("a name or key has no value");
  const pairs: [unknown, unknown][] = [];
  for (let i = from; i < items.length; i += 2) pairs.push([raise(items[i]), raise(items[i + 1])]);
  return pairs;
}

function textIn(value: unknown): string {
  if (typeof value !== "string") throw unreadable("a text is missing");
  return value;
}

function numberIn(value: unknown): number {
  if (typeof value !== "number") throw unreadable("a number is missing");
  return value;
}

function bytesIn(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw unreadable("binary data is missing");
  return value;
}
