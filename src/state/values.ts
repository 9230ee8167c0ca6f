import { HeadwaterError } from "../errors.js";
import { Tracked } from "../model/collections.js";
import { Context } from "../model/context.js";
import { Reference } from "../model/refs.js";
import { type AnyClass, isRegistered, whyNotRegistered } from "./registered.js";

export { register } from "./registered.js";

/**
 * Plain data: what fields may hold and what may cross from one context to another. Values are copied at every
 * boundary, also on the same host, so that a program cannot work on one host and break on two.
 *
 * A copy keeps values and the order of keys. It does not keep sharing: an object reachable on two ways becomes
 * two objects, and one that contains itself is refused.
 */

const DEPTH_MAX = 200;

class Refused extends Error {
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** A copy of plain data, or a refusal (HW-1006) that names the path to what is not plain data. */
export function copy<T>(value: T, name: () => string): T {
  if (typeof value !== "object" ? typeof value !== "function" && typeof value !== "symbol" : value === null)
    return value;
  try {
    return copyAny(value, 0) as T;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof RangeError)) throw error;
    throw refusal(value, name());
  }
}

/** Puts copies in the place of the given values. */
export function copyAll(values: unknown[], name: () => string): unknown[] {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (isSimple(value)) continue;
    values[i] = copyArgument(value, i, name);
  }
  return values;
}

/** Apart, because a closure in a loop costs a scope for each turn, needed or not. */
function copyArgument(value: unknown, i: number, name: () => string): unknown {
  return copy(value, () => `${name()}, argument ${i + 1}`);
}

/** Is it its own copy? */
export function isSimple(value: unknown): boolean {
  return typeof value === "object"
    ? value === null
    : typeof value !== "function" && typeof value !== "symbol";
}

function copyAny(value: unknown, depth: number): unknown {
  if (typeof value === "object") return value === null ? null : copyObject(value, depth);
  if (typeof value === "function") throw new Refused(`a function (${value.name || "without a name"})`);
  if (typeof value === "symbol") throw new Refused(String(value));
  return value;
}

function copyObject(value: object, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new Refused(`nested more than ${DEPTH_MAX} deep, or containing itself`);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) {
    const items = value as unknown[];
    const array = new Array<unknown>(items.length);
    for (let i = 0; i < items.length; i++) array[i] = copyAny(items[i], depth + 1);
    return array;
  }
  if (prototype === Object.prototype || prototype === null) return copyFields(value, {}, depth);
  if (prototype === Map.prototype) {
    const map = new Map<unknown, unknown>();
    for (const [key, item] of value as Map<unknown, unknown>)
      map.set(copyAny(key, depth + 1), copyAny(item, depth + 1));
    return map;
  }
  if (prototype === Set.prototype) {
    const set = new Set<unknown>();
    for (const item of value as Set<unknown>) set.add(copyAny(item, depth + 1));
    return set;
  }
  return copyInstance(value, prototype as object, depth);
}

function copyInstance(value: object, prototype: object, depth: number): unknown {
  if (prototype === Date.prototype) return new Date((value as Date).getTime());
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) return copyView(value);
  if (isRegistered(value.constructor)) {
    const fields = copyFields(value, Object.create(prototype) as Record<string, unknown>, depth);
    return value instanceof Error ? withErrorText(fields as unknown as Error, value) : fields;
  }
  if (value instanceof Error) return copyError(value, depth);
  throw new Refused(describe(value));
}

function copyFields(from: object, to: Record<string, unknown>, depth: number): Record<string, unknown> {
  const fields = from as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    if (key === "__proto__") throw new Refused("an object with a field named __proto__");
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

export const ERROR_TYPES: ReadonlyMap<unknown, ErrorConstructor> = new Map<unknown, ErrorConstructor>(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((type) => [
    type.prototype,
    type,
  ]),
);

export function inheritedType(error: Error): ErrorConstructor {
  for (let at: unknown = error; at !== null; at = Object.getPrototypeOf(at)) {
    const type = ERROR_TYPES.get(at);
    if (type !== undefined) return type;
  }
  return Error;
}

/** Errors of classes that are not registered arrive as the nearest built-in class, under their own name. */
function copyError(error: Error, depth: number): Error {
  if (error instanceof HeadwaterError) return error;
  const to = nearestBuiltIn(error);
  for (const [key, item] of errorFields(error)) defineHidden(to, key, copyAny(item, depth + 1), true);
  if (error.cause !== undefined) defineHidden(to, "cause", copyAny(error.cause, depth + 1));
  return to;
}

function nearestBuiltIn(error: Error): Error {
  const Type = ERROR_TYPES.get(Object.getPrototypeOf(error)) ?? inheritedType(error);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const to = new Type(error.message);
  Error.stackTraceLimit = stackTraceLimit;
  if (stackTraceLimit > 0) showStackOf(error, to); // else nobody wants to see any
  if (to.name !== error.name) defineHidden(to, "name", error.name);
  return to;
}

export function errorFields(error: Error): [name: string, item: unknown][] {
  return Object.entries(error).filter(([name]) => name !== "name" && name !== "cause");
}

function withErrorText(to: Error, from: Error): Error {
  defineHidden(to, "message", from.message);
  showStackOf(from, to);
  return to;
}

/** A copy shows the stack of the original. Putting that into words takes long, and few look at it. */
function showStackOf(from: Error, to: Error): void {
  Object.defineProperty(to, "stack", { get: () => from.stack, configurable: true });
}

export function defineHidden(to: Error, name: string, value: unknown, enumerable = false): void {
  Object.defineProperty(to, name, { value, enumerable, configurable: true, writable: true });
}

/** What a method threw, as its caller sees it. Anything may be thrown; what is not plain data is left out. */
export function copyThrown(thrown: unknown): unknown {
  try {
    return copyAny(thrown, 0);
  } catch {
    try {
      return roughCopy(thrown);
    } catch {
      return new Error("something was thrown that cannot be looked at");
    }
  }
}

function roughCopy(thrown: unknown): Error {
  if (!(thrown instanceof Error)) {
    return new Error(typeof thrown === "object" && thrown !== null ? describe(thrown) : String(thrown));
  }
  const to = nearestBuiltIn(thrown);
  for (const [name, item] of errorFields(thrown)) {
    try {
      defineHidden(to, name, copyAny(item, 1), true);
    } catch {}
  }
  return to;
}

function describe(value: object): string {
  if (value instanceof Reference) return "a reference to a context (pass or keep its key instead)";
  if (value instanceof Context) return "a context itself (pass what is needed of it, or its key)";
  if (value instanceof Tracked) {
    return "a tracked collection (it stays in its field; pass what is needed of it, or a copy: `new Map(…)`, `[...…]`)";
  }
  if (value instanceof Promise) return "a promise (await it first)";
  const cls: unknown = value.constructor;
  if (typeof cls !== "function" || cls === Object)
    return "an object that is neither plain nor of a class of its own";
  const remedy =
    whyNotRegistered(cls as unknown as AnyClass) === null
      ? `, or register the class with \`register(${cls.name})\``
      : "";
  return `an instance of ${cls.name || "a class without a name"} (pass plain data${remedy})`;
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
      const shown =
        typeof key === "string" ? JSON.stringify(key) : typeof key === "number" ? String(key) : "…";
      yield [`.get(${shown})`, item];
    }
  } else if (value instanceof Set) {
    for (const item of value) yield [".values()", item];
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield [`[${i}]`, item];
  } else if (isPlain(value) || isRegistered(value.constructor) || value instanceof Error) {
    for (const [key, item] of Object.entries(value)) yield [`.${key}`, item];
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
