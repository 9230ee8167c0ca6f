import { HeadwaterError } from "../errors.js";
import { Tracked } from "../model/collections.js";
import { Context } from "../model/context.js";
import { Reference } from "../model/refs.js";
import { copyView } from "./bytes.js";
import { type AnyClass, isRegistered, whyNotRegistered } from "./registered.js";
import { checkArray, checkEveryName, checkFields, checkNoFields, NotPlainData } from "./whole.js";

export { register } from "./registered.js";

/**
 * Plain data: what fields may hold and what may cross from one context to another. Values are copied at every
 * boundary, also on the same host, so that a program cannot work on one host and break on two.
 *
 * A copy keeps values and the order of keys. It does not keep sharing: an object reachable on two ways becomes
 * two objects, and one that contains itself is refused. Nor does it keep that something is frozen, or the holes of an
 * array, which become undefined. What else it would lose is refused.
 */

const DEPTH_MAX = 200;

/** How closely a value is looked at while it is copied: it is ours already, it is passed on, it is to be kept. */
const [KEPT, PASSED, TO_KEEP] = [0, 1, 2] as const;
type Care = typeof KEPT | typeof PASSED | typeof TO_KEEP;

/** A copy of plain data to pass on, or a refusal (HW-1006) that names the path to the value that is not plain data. */
export function copy<T>(value: T, name: () => string): T {
  return isSimple(value) ? value : (copied(value, PASSED, name) as T);
}

/** A copy to be kept in a state. It costs more, and states are changed less often than values are passed. */
export function copyToKeep(value: unknown, name: () => string): unknown {
  return isSimple(value) ? value : copied(value, TO_KEEP, name);
}

/** A copy of what is a copy already, which has nothing that could be refused. */
export function copyKept(value: unknown): unknown {
  return copyAny(value, 0, KEPT);
}

function copied(value: unknown, care: Care, name: () => string): unknown {
  try {
    return copyAny(value, 0, care);
  } catch (error) {
    if (!(error instanceof NotPlainData || error instanceof RangeError)) throw error;
    throw refusal(value, name(), care);
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

/** Need none of them be copied? */
export function areSimple(values: readonly unknown[]): boolean {
  for (let i = 0; i < values.length; i++) if (!isSimple(values[i])) return false;
  return true;
}

function copyAny(value: unknown, depth: number, care: Care = PASSED): unknown {
  if (typeof value === "object") return value === null ? null : copyObject(value, depth, care);
  if (typeof value === "function") throw new NotPlainData(`a function (${value.name || "without a name"})`);
  if (typeof value === "symbol") throw new NotPlainData(String(value));
  return value;
}

function copyObject(value: object, depth: number, care: Care): unknown {
  if (depth > DEPTH_MAX) throw new NotPlainData(`nested more than ${DEPTH_MAX} deep, or containing itself`);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) return copyItems(value as unknown[], depth, care);
  if (prototype === Object.prototype || prototype === null) return copyPlain(value, depth, care);
  if (prototype === Map.prototype) {
    if (care !== KEPT) checkNoFields(value);
    const map = new Map<unknown, unknown>();
    for (const [key, item] of value as Map<unknown, unknown>)
      map.set(copyAny(key, depth + 1, care), copyAny(item, depth + 1, care));
    return map;
  }
  if (prototype === Set.prototype) {
    if (care !== KEPT) checkNoFields(value);
    const set = new Set<unknown>();
    for (const item of value as Set<unknown>) set.add(copyAny(item, depth + 1, care));
    return set;
  }
  return copyInstance(value, prototype as object, depth, care);
}

function copyItems(items: unknown[], depth: number, care: Care): unknown[] {
  if (care === PASSED) checkArray(items);
  else if (care === TO_KEEP) checkEveryName(items);
  const array = [...items]; // which leaves no holes
  const { length } = array;
  for (let i = 0; i < length; i++) {
    const type = typeof array[i];
    if (type === "object" || type === "function" || type === "symbol")
      array[i] = copyAny(array[i], depth + 1, care);
  }
  return array;
}

function copyInstance(value: object, prototype: object, depth: number, care: Care): unknown {
  if (prototype === Date.prototype || prototype === ArrayBuffer.prototype) {
    if (care === TO_KEEP) checkNoFields(value);
    return value instanceof Date ? new Date(value.getTime()) : (value as ArrayBuffer).slice(0);
  }
  const view = copyView(value, prototype);
  if (view !== null) return view;
  if (isRegistered(value.constructor) && value.constructor.prototype === prototype) {
    const [names, to] = [Object.keys(value), Object.create(prototype) as Fields];
    if (value instanceof Error)
      return withErrorText(copyNamed(value, names, to, depth, care) as unknown as Error, value);
    if (care !== KEPT) checkFields(value, names, care === TO_KEEP);
    return copyNamed(value, names, to, depth, care);
  }
  if (value instanceof Error) return copyError(value, depth, care);
  throw new NotPlainData(describe(value));
}

type Fields = Record<string, unknown>;

function copyPlain(from: object, depth: number, care: Care): Fields {
  const names = Object.keys(from);
  if (care !== KEPT) checkFields(from, names, care === TO_KEEP);
  const to: Fields = {};
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (name === "__proto__") throw new NotPlainData("an object with a field named __proto__");
    const item = (from as Fields)[name];
    const type = typeof item;
    to[name] =
      type === "object" || type === "function" || type === "symbol" ? copyAny(item, depth + 1, care) : item;
  }
  return to;
}

function copyNamed(from: object, names: readonly string[], to: Fields, depth: number, care: Care): Fields {
  for (const name of names) {
    if (name === "__proto__") throw new NotPlainData("an object with a field named __proto__");
    to[name] = copyAny((from as Fields)[name], depth + 1, care);
  }
  return to;
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
function copyError(error: Error, depth: number, care: Care): Error {
  if (error instanceof HeadwaterError) return error;
  const to = nearestBuiltIn(error);
  for (const [key, item] of errorFields(error)) defineHidden(to, key, copyAny(item, depth + 1, care), true);
  if (error.cause !== undefined) defineHidden(to, "cause", copyAny(error.cause, depth + 1, care));
  return to;
}

function nearestBuiltIn(error: Error): Error {
  const Type = ERROR_TYPES.get(Object.getPrototypeOf(error)) ?? inheritedType(error);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const to = new Type(error.message);
  Error.stackTraceLimit = stackTraceLimit;
  if (stackTraceLimit > 0) showStackOf(error, to); // else none is wanted
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

/** What a method threw, as its caller sees it. Anything may be thrown; everything but plain data is left out. */
export function copyThrown(thrown: unknown): unknown {
  try {
    return thrownInside(thrown, []);
  } catch {
    return new Error("something was thrown that cannot be looked at");
  }
}

/** `above`: what it is the cause or a part of. */
function thrownInside(thrown: unknown, above: readonly unknown[]): unknown {
  if (above.includes(thrown) || above.length > DEPTH_MAX) return new Error("an error that contains itself");
  const inside = (part: unknown) => thrownInside(part, [...above, thrown]);
  let told: unknown;
  try {
    told = copyAny(thrown, 0);
  } catch {
    if (!(thrown instanceof Error)) return toldOf(thrown);
    told = nearestBuiltIn(thrown);
    keepFields(told as Error, errorFields(thrown));
    if (thrown.cause !== undefined) defineHidden(told as Error, "cause", inside(thrown.cause));
  }
  if (thrown instanceof AggregateError && Array.isArray(thrown.errors)) {
    defineHidden(told as Error, "errors", thrown.errors.map(inside), true); // only what can be seen goes on to other hosts
  }
  return told;
}

/** Gives an error those fields that are plain data, and returns the others. */
function keepFields(to: Error, fields: readonly [name: string, item: unknown][]): typeof fields {
  return fields.filter(([name, item]) => {
    try {
      if (name === "__proto__" || name === "name") return true;
      defineHidden(to, name, copyAny(item, 1), true);
      return false;
    } catch {
      return true;
    }
  });
}

/** Of what is neither plain data nor an error: what can be kept, as an error that says what is missing, and why. */
function toldOf(thrown: unknown): Error {
  if (typeof thrown !== "object" || thrown === null) return new Error(String(thrown));
  if (!isPlain(thrown)) {
    const { path, reason } = locate(thrown, "it", PASSED, new Set()) ?? {
      path: "it",
      reason: describe(thrown),
    };
    return new Error(path === "it" ? reason : `what was thrown cannot be passed on: ${path} is ${reason}`);
  }
  const told = new Error("a plain object was thrown");
  try {
    const fields = Object.entries(thrown as Record<string, unknown>);
    const isText = ([name, item]: [string, unknown]) => TEXTS.includes(name) && typeof item === "string";
    for (const [name, item] of fields.filter(isText)) defineHidden(told, name, item);
    const leftOut = keepFields(
      told,
      fields.filter((field) => !isText(field)),
    );
    const reasons = leftOut.map(([name, item]) => whyLeftOut(name, item, thrown));
    defineHidden(
      told,
      "message",
      `${told.message} (left out: ${reasons.join("; ") || "what is no ordinary field"})`,
    );
  } catch {
    told.message += ", which cannot be read";
  }
  return told;
}

/** What an error has anyway. */
const TEXTS = ["name", "message"];

function whyLeftOut(name: string, item: unknown, of: object): string {
  const { path, reason } = locate(item, name, PASSED, new Set([of])) ?? {
    path: name,
    reason: "which cannot be a field of an error",
  };
  return path === name ? `${name}, ${reason}` : `${name}, as ${path} is ${reason}`;
}

function describe(value: object): string {
  if (value instanceof Reference) return "a reference to a context (pass or keep its key instead)";
  if (value instanceof Context) return "a context itself (pass what is needed of it, or its key)";
  if (value instanceof Tracked && value.kind === "owned")
    return "an owned engine (it stays in its field; pass what `read` gives of it)";
  if (value instanceof Tracked) {
    return "a tracked collection (it stays in its field; pass what is needed of it, or a copy: `new Map(…)`, `[...…]`)";
  }
  if (value instanceof Promise) return "a promise (await it first)";
  const cls: unknown = value.constructor;
  if (typeof cls !== "function" || cls === Object)
    return "an object that is neither plain nor of a class of its own";
  return `an instance of ${cls.name || "a class without a name"} (pass plain data${remedyFor(value, cls as unknown as AnyClass)})`;
}

/** What says all that there is to instances of classes that cannot be registered. */
const PLAIN_FORMS: readonly [type: unknown, form: string][] = [
  [URL, "url.href"],
  [URLSearchParams, "params.toString()"],
  [RegExp, "[regExp.source, regExp.flags]"],
];

function remedyFor(value: object, cls: AnyClass): string {
  const form = PLAIN_FORMS.find(([type]) => type === cls)?.[1];
  if (form !== undefined) return `, such as \`${form}\``;
  const isBuiltIn = (globalThis as Record<string, unknown>)[cls.name] === cls;
  const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  if (isBuiltIn || isBytes || whyNotRegistered(cls) !== null) return "";
  return `, or register the class with \`register(${cls.name})\``;
}

/** Walks the value once more to say where the trouble is; slow, and only on the way to an error. */
function refusal(value: unknown, name: string, care: Care): HeadwaterError {
  const { path, reason } = locate(value, name, care, new Set()) ?? { path: name, reason: "nested too deep" };
  return new HeadwaterError(
    "HW-1006",
    `${path} cannot be stored: it is ${reason}. Contexts hold and pass plain data: numbers, strings, booleans, null, ` +
      "undefined, bigint, Date, arrays, objects, Map, Set, typed arrays, and instances of registered classes.",
  );
}

interface Found {
  readonly path: string;
  readonly reason: string;
}

function locate(value: unknown, path: string, care: Care, above: Set<unknown>): Found | null {
  if (above.has(value)) return { path, reason: "part of itself (a cycle)" };
  if (above.size > DEPTH_MAX) return { path, reason: `nested more than ${DEPTH_MAX} deep` };
  try {
    copyAny(value, 0, care);
    return null;
  } catch (error) {
    above.add(value);
    for (const [step, item] of partsOf(value)) {
      const found = locate(item, `${path}${step}`, care, above);
      if (found !== null) return found;
    }
    above.delete(value);
    return { path, reason: error instanceof NotPlainData ? error.reason : "nested too deep" };
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
