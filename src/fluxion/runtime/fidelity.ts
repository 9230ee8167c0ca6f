import { types } from "node:util";
import { type ErrorFields, fieldsOf } from "./error-fields.js";
import { StageRefusal } from "./refusal.js";
import { VIEWS } from "./views.js";

/**
 * Which values come out of a copy as they went in. Structured clone throws for some that do not, and is silently wrong
 * for many more: class instances lose their class, errors their fields, frozen objects come out thawed. Here all of
 * these are found. What a copy can be mended for is noted down as a repair; the rest is refused.
 */

export const REPAIR = { nullPrototype: 0, error: 1, notExtensible: 2, sealed: 3, frozen: 4 } as const;

/** What is to be done to the copy of `of` once it is made, in this order. */
export type Repair =
  | readonly [kind: typeof REPAIR.error, of: Error, fields: ErrorFields]
  | readonly [kind: Exclude<(typeof REPAIR)[keyof typeof REPAIR], typeof REPAIR.error>, of: object];

/** What else is asked of each object before it is copied: why not, or null. */
let refusalOf: ((object: object) => string | null) | null = null;

export function refuseObjects(why: typeof refusalOf): void {
  refusalOf = why;
}

/** Looks at all that can be reached from a value. Throws a `StageRefusal` that names what cannot be copied. */
export function check(root: unknown): Repair[] {
  if (isPrimitive(root)) return [];
  const walk = new Walk();
  walk.meet(root);
  walk.goOn();
  return walk.repairs;
}

function isPrimitive(value: unknown): boolean {
  switch (typeof value) {
    case "object":
      return value === null;
    case "function":
      throw new StageRefusal("a function cannot be copied");
    case "symbol":
      throw new StageRefusal("a symbol cannot be copied");
    default:
      return true;
  }
}

class Walk {
  readonly repairs: Repair[] = [];
  readonly #freezes: Repair[] = [];
  readonly #seen = new Set<object>();
  readonly #due: object[] = [];
  /** Which bytes of which memory are seen through views. */
  readonly #bytes = new Map<ArrayBuffer, { begin: number; end: number }[]>();

  meet(value: unknown): void {
    if (isPrimitive(value)) return;
    const object = value as object;
    if (this.#seen.has(object)) return;
    this.#seen.add(object);
    this.#due.push(object);
  }

  goOn(): void {
    for (let object = this.#due.pop(); object !== undefined; object = this.#due.pop()) this.#look(object);
    this.repairs.push(...this.#freezes); // nothing can be mended after that
  }

  #look(object: object): void {
    const refusal = refusalOf?.(object) ?? null;
    if (refusal !== null) throw new StageRefusal(refusal);
    if (types.isProxy(object)) throw new StageRefusal("a proxy cannot be copied");
    const prototype: unknown = Object.getPrototypeOf(object);
    if (!ArrayBuffer.isView(object)) this.#integrity(object);
    if (prototype === Object.prototype) return this.#plain(object);
    if (Array.isArray(object)) {
      if (prototype !== Array.prototype) throw ofClass(object);
      return this.#fields(object, "length");
    }
    if (prototype === null) {
      if (types.isModuleNamespaceObject(object)) throw new StageRefusal("a module cannot be copied");
      this.repairs.push([REPAIR.nullPrototype, object]);
      return this.#plain(object);
    }
    if (types.isNativeError(object)) return this.#error(object);
    if (ArrayBuffer.isView(object)) return this.#view(object, prototype);
    this.#builtIn(object, prototype);
    if (Reflect.ownKeys(object).length > 0)
      throw new StageRefusal(`fields of a ${nameOf(object)} would be lost`);
  }

  #plain(object: object): void {
    if (types.isArgumentsObject(object)) throw new StageRefusal("an arguments object cannot be copied");
    if (types.isExternal(object) || types.isBoxedPrimitive(object)) throw ofClass(object);
    this.#fields(object, null);
  }

  #fields(object: object, besides: string | null): void {
    for (const key of Reflect.ownKeys(object)) {
      if (typeof key === "symbol") throw new StageRefusal("a field whose name is a symbol would be lost");
      if (key === besides) continue;
      const field = Object.getOwnPropertyDescriptor(object, key);
      if (field === undefined) continue;
      if (field.get !== undefined || field.set !== undefined)
        throw new StageRefusal(`"${key}" is a getter or setter`);
      if (field.enumerable !== true) throw new StageRefusal(`"${key}" is a hidden field`);
      if ((field.writable !== true || field.configurable !== true) && Object.isExtensible(object)) {
        throw new StageRefusal(`"${key}" is a field that cannot be changed`);
      }
      this.meet(field.value);
    }
  }

  #builtIn(object: object, prototype: unknown): void {
    if (types.isMap(object) && prototype === Map.prototype) {
      for (const [key, value] of object) {
        this.meet(key);
        this.meet(value);
      }
    } else if (types.isSet(object) && prototype === Set.prototype) {
      for (const item of object) this.meet(item);
    } else if (types.isArrayBuffer(object) && prototype === ArrayBuffer.prototype) {
      this.#memory(object, 0, object.byteLength);
    } else if (types.isRegExp(object) || !types.isDate(object) || prototype !== Date.prototype) {
      throw ofClass(object);
    }
  }

  #error(error: Error): void {
    const fields = fieldsOf(error);
    for (const [, value] of fields.own) this.meet(value);
    this.repairs.push([REPAIR.error, error, fields]);
    this.meet(fields); // the list itself is copied, too
  }

  #view(view: ArrayBufferView, prototype: unknown): void {
    const isBuffer = prototype === Buffer.prototype;
    if (!isBuffer && !VIEWS.some((each) => each.prototype === prototype)) throw ofClass(view);
    const { buffer, byteOffset, byteLength } = view;
    if (!(buffer instanceof ArrayBuffer)) throw new StageRefusal("shared memory cannot be copied");
    if (!isBuffer && (byteOffset !== 0 || byteLength !== buffer.byteLength)) {
      throw new StageRefusal("a view of a part of some memory cannot be copied");
    }
    this.#memory(buffer, byteOffset, byteLength);
  }

  /** Several buffers may be of one piece of memory (Node does that), but not see the same bytes. */
  #memory(buffer: ArrayBuffer, begin: number, length: number): void {
    const end = begin + length;
    const ranges = this.#bytes.get(buffer) ?? [];
    if (ranges.some((other) => begin < other.end && other.begin < end)) {
      throw new StageRefusal("several views of the same memory cannot be copied");
    }
    ranges.push({ begin, end });
    this.#bytes.set(buffer, ranges);
  }

  #integrity(object: object): void {
    if (Object.isExtensible(object)) return;
    const kind = Object.isFrozen(object)
      ? REPAIR.frozen
      : Object.isSealed(object)
        ? REPAIR.sealed
        : REPAIR.notExtensible;
    this.#freezes.push([kind, object]);
  }
}

function ofClass(object: object): StageRefusal {
  return new StageRefusal(`an object of class ${nameOf(object)} cannot be copied`);
}

function nameOf(object: object): string {
  const { constructor: made } = object as { constructor?: { name?: unknown } };
  return typeof made?.name === "string" ? made.name : "unknown";
}
