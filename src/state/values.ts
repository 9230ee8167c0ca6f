import { HeadwaterError } from "../errors.js";
import { Context } from "../model/context.js";
import { Reference } from "../model/refs.js";

/**
 * Plain data: what fields may hold and what may cross from one context to another. Values are copied at every
 * boundary, also on the same host, so that a program cannot work on one host and break on two.
 *
 * A copy keeps values and the order of keys. It does not keep sharing: an object reachable on two ways becomes
 * two objects, and one that contains itself is refused.
 */

const DEPTH_MAX = 200;

type AnyClass = abstract new (...args: never[]) => object;

const registered = new Map<unknown, string>();

/** Lets instances of a class be stored and passed: its own enumerable fields travel, its methods stay. */
export function register(...classes: readonly AnyClass[]): void {
  for (const cls of classes) {
    const other = [...registered].find(([known, name]) => name === cls.name && known !== cls);
    if (other !== undefined) {
      throw new HeadwaterError("HW-1006", `Another class named ${cls.name} is registered already; rename one of them.`);
    }
    registered.set(cls, cls.name);
  }
}

class Refused extends Error {
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** A copy of plain data, or a refusal (HW-1006) that names the path to what is not plain data. */
export function copy<T>(value: T, name: () => string): T {
  if (typeof value !== "object" ? typeof value !== "function" && typeof value !== "symbol" : value === null) return value;
  try {
    return copyAny(value, 0) as T;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof RangeError)) throw error;
    throw refusal(value, name());
  }
}

export function copyAll(values: unknown[], name: () => string): unknown[] {
  const copies = new Array<unknown>(values.length);
  for (let i = 0; i < values.length; i++) copies[i] = copy(values[i], () => `${name()}, argument ${i + 1}`);
  return copies;
}

function copyAny(value: unknown, depth: number): unknown {
  if (typeof value === "object") return value === null ? null : copyObject(value, depth);
  if (typeof value === "function") throw new Refused(`a function (${value.name || "without a name"})`);
  if (typeof value === "symbol") throw new Refused(String(value));
  return value;
}

function copyObject(value: object, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new Refused(`nested more than ${DEPTH_MAX} deep, or containing itself`);
  if (Array.isArray(value)) {
    const array = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) array[i] = copyAny(value[i], depth + 1);
    return array;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return copyFields(value, {}, depth);
  if (value instanceof Map) {
    const map = new Map<unknown, unknown>();
    for (const [key, item] of value) map.set(copyAny(key, depth + 1), copyAny(item, depth + 1));
    return map;
  }
  if (value instanceof Set) {
    const set = new Set<unknown>();
    for (const item of value) set.add(copyAny(item, depth + 1));
    return set;
  }
  return copyInstance(value, depth);
}

function copyInstance(value: object, depth: number): unknown {
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) return copyView(value);
  if (registered.has(value.constructor)) {
    const prototype = Object.getPrototypeOf(value) as object;
    const fields = copyFields(value, Object.create(prototype) as Record<string, unknown>, depth);
    return value instanceof Error ? withErrorText(fields as unknown as Error, value) : fields;
  }
  if (value instanceof Error) return copyError(value, depth);
  throw new Refused(describe(value));
}

function copyFields(from: object, to: Record<string, unknown>, depth: number): Record<string, unknown> {
  const fields = from as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    if (key === "__proto__") throw new Refused("a field named __proto__");
    to[key] = copyAny(fields[key], depth + 1);
  }
  return to;
}

function copyView(view: ArrayBufferView): ArrayBufferView {
  const bytes = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  if (view instanceof DataView) return new DataView(bytes);
  if (Buffer.isBuffer(view)) return new Uint8Array(bytes);
  const Typed = view.constructor as new (buffer: ArrayBufferLike) => ArrayBufferView;
  return new Typed(bytes);
}

const ERROR_TYPES = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

/** Errors of classes that are not registered arrive as the nearest built-in class, under their own name. */
function copyError(error: Error, depth: number): Error {
  if (error instanceof HeadwaterError) return error;
  const Type = ERROR_TYPES.find((type) => error instanceof type) ?? Error;
  const to = withErrorText(new Type(error.message), error);
  if (to.name !== error.name) Object.defineProperty(to, "name", { value: error.name, configurable: true });
  for (const [key, item] of Object.entries(error)) {
    if (key !== "__proto__" && key !== "name") (to as unknown as Record<string, unknown>)[key] = copyAny(item, depth + 1);
  }
  return to;
}

function withErrorText(to: Error, from: Error): Error {
  const hidden = { configurable: true, writable: true, enumerable: false };
  Object.defineProperty(to, "message", { ...hidden, value: from.message });
  Object.defineProperty(to, "stack", { ...hidden, value: from.stack });
  return to;
}

/** What a method threw, as its caller sees it. Anything may be thrown; what is not plain data is described. */
export function copyThrown(thrown: unknown): unknown {
  try {
    return copyAny(thrown, 0);
  } catch {
    return thrown instanceof Error ? withErrorText(new Error(thrown.message), thrown) : new Error(String(thrown));
  }
}

/** Do a live value and a copy hold the same data? Never true for something that cannot be copied. */
export function same(live: unknown, kept: unknown): boolean {
  if (typeof live !== "object" || live === null) return Object.is(live, kept);
  if (typeof kept !== "object" || kept === null) return false;
  if (Array.isArray(live)) {
    if (!Array.isArray(kept) || live.length !== kept.length) return false;
    for (let i = 0; i < live.length; i++) if (!same(live[i], kept[i])) return false;
    return true;
  }
  if (live instanceof Map) return kept instanceof Map && live.size === kept.size && sameItems(live, kept);
  if (live instanceof Set) return kept instanceof Set && live.size === kept.size && sameItems(live, kept);
  if (live instanceof Date) return kept instanceof Date && Object.is(live.getTime(), kept.getTime());
  if (live instanceof ArrayBuffer) return kept instanceof ArrayBuffer && sameBytes(live, kept);
  if (ArrayBuffer.isView(live)) {
    if (!ArrayBuffer.isView(kept) || (kept.constructor !== live.constructor && !Buffer.isBuffer(live))) return false;
    return live.byteLength === kept.byteLength && sameBytes(live, kept);
  }
  const prototype: unknown = Object.getPrototypeOf(live) ?? Object.prototype;
  if (prototype !== Object.getPrototypeOf(kept)) return false;
  if (live instanceof Error && live.message !== (kept as Error).message) return false;
  return sameFields(live as Record<string, unknown>, kept as Record<string, unknown>);
}

function sameItems(live: Iterable<unknown>, kept: Iterable<unknown>): boolean {
  const others = kept[Symbol.iterator]();
  for (const item of live) if (!same(item, others.next().value)) return false;
  return true;
}

function sameFields(live: Record<string, unknown>, kept: Record<string, unknown>): boolean {
  const keys = Object.keys(live);
  const others = Object.keys(kept);
  if (keys.length !== others.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (key !== others[i] || !same(live[key], kept[key])) return false;
  }
  return true;
}

function sameBytes(live: ArrayBuffer | ArrayBufferView, kept: ArrayBuffer | ArrayBufferView): boolean {
  const bytes = (of: ArrayBuffer | ArrayBufferView) =>
    ArrayBuffer.isView(of) ? Buffer.from(of.buffer, of.byteOffset, of.byteLength) : Buffer.from(of);
  return bytes(live).equals(bytes(kept));
}

function describe(value: object): string {
  if (value instanceof Reference) return "a reference to a context (pass or keep its key instead)";
  if (value instanceof Context) return "a context itself (pass what is needed of it, or its key)";
  if (value instanceof Promise) return "a promise (await it first)";
  const name = value.constructor?.name || "an object without a class";
  return `an instance of ${name} (pass plain data, or register the class with \`register(${name})\`)`;
}

/** Walks the value once more to say where the trouble is; slow, and only on the way to an error. */
function refusal(value: unknown, name: string): HeadwaterError {
  const { path, reason } = locate(value, name, new Set()) ?? { path: name, reason: "nested too deep" };
  return new HeadwaterError(
    "HW-1006",
    `${path} cannot be stored: it is ${reason}. Contexts hold and pass plain data: numbers, strings, booleans, null, ` +
      "undefined, bigint, Date, arrays, objects, Map, Set, typed arrays, and instances of registered classes.",
  );
}

function locate(value: unknown, path: string, above: Set<unknown>): { path: string; reason: string } | null {
  if (above.has(value)) return { path, reason: "part of itself (a cycle)" };
  if (above.size > DEPTH_MAX) return { path, reason: `nested more than ${DEPTH_MAX} deep` };
  try {
    copyAny(value, 0);
    return null;
  } catch (error) {
    above.add(value);
    for (const [step, item] of partsOf(value)) {
      const found = locate(item, `${path}${step}`, above);
      if (found !== null) return found;
    }
    above.delete(value);
    return { path, reason: error instanceof Refused ? error.reason : "nested too deep" };
  }
}

function* partsOf(value: unknown): Iterable<[step: string, item: unknown]> {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Map) {
    for (const [key, item] of value) {
      yield [".keys()", key];
      yield [`.get(${typeof key === "string" ? JSON.stringify(key) : String(key)})`, item];
    }
  } else if (value instanceof Set) {
    for (const item of value) yield [".values()", item];
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield [`[${i}]`, item];
  } else if (!(value instanceof Reference || value instanceof Context)) {
    for (const [key, item] of Object.entries(value)) yield [`.${key}`, item];
  }
}
