import { watch } from "./watch.js";

/**
 * Functions of the language and of Node, with a question in front. They look like the originals, also to code that asks
 * for their text.
 */

type AnyFunction = (...args: never[]) => unknown;

const originals = new WeakMap<object, AnyFunction>();
const { apply, construct, defineProperty, get, getOwnPropertyDescriptor, ownKeys } = Reflect;
const { Proxy: RealProxy } = globalThis;
const put: (to: Map<unknown, unknown>, key: unknown, value: unknown) => void = Function.prototype.call.bind(
  Map.prototype.set,
);
const toText = Function.prototype.toString;

/** Asks before a method of `holder` is called. */
export function ask(
  holder: object,
  key: PropertyKey,
  before: (self: unknown, args: readonly unknown[]) => void,
): void {
  const field = getOwnPropertyDescriptor(holder, key);
  if (field === undefined) return;
  for (const part of ["value", "get", "set"] as const) {
    const original: unknown = field[part];
    if (typeof original === "function") field[part] = asking(original as AnyFunction, before);
  }
  defineProperty(holder, key, field);
}

/** Asks, before a method changes what it is called on, whether that is old. */
export function askItself(holder: object, key: PropertyKey): void {
  const field = getOwnPropertyDescriptor(holder, key);
  const original: unknown = field?.value;
  if (field === undefined || typeof original !== "function")
    return ask(holder, key, (self) => watch.write(self));
  const { write } = watch;
  const { made } = {
    made(this: unknown, ...args: never[]): unknown {
      write(this);
      return apply(original, this, args);
    },
  };
  defineProperty(holder, key, { ...field, value: like(made, original as AnyFunction) });
}

/** A method with a question in front, as methods are: it cannot be made an instance with `new`. */
function asking(
  original: AnyFunction,
  before: (self: unknown, args: readonly unknown[]) => void,
): AnyFunction {
  const { made } = {
    made(this: unknown, ...args: never[]): unknown {
      before(this, args);
      return apply(original, this, args);
    },
  };
  return like(made, original);
}

/** With the name, the length and the text of what it stands for. */
export function like<T extends AnyFunction>(made: T, original: AnyFunction): T {
  for (const key of ["name", "length"] as const)
    defineProperty(made, key, { configurable: true, value: original[key] });
  originals.set(made, original);
  return made;
}

export function replaceTexts(): void {
  const { toString: made } = {
    toString(this: unknown): string {
      return apply(toText, originals.get(this as object) ?? this, []) as string;
    },
  };
  defineProperty(Function.prototype, "toString", {
    configurable: true,
    writable: true,
    value: like(made, toText),
  });
}

/** A function that is not to be called, or an object with such functions, as far as `allows` does not say otherwise. */
export function refusing<T extends object>(target: T, name: string, allows: (path: string) => boolean): T {
  const known = new Map<unknown, unknown>();
  const deny = (path: string) => {
    if (!allows(path)) watch.deny(`calls ${path}`);
  };
  return new RealProxy(target, {
    apply: (of, self, args) => {
      deny(name);
      return apply(of as unknown as AnyFunction, self, args);
    },
    construct: (of, args, made) => {
      deny(name);
      return construct(of as unknown as new () => object, args, made) as object;
    },
    get: (of, key) => {
      const value: unknown = get(of, key);
      const field = getOwnPropertyDescriptor(of, key);
      const isFixed = field?.configurable === false && field.writable === false;
      const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
      if (!isObject || isFixed || key === "prototype" || key === "constructor" || typeof key === "symbol")
        return value;
      if (!known.has(value)) put(known, value, refusing(value, `${name}.${key}`, allows));
      return known.get(value);
    },
    set: (of, key, value) => {
      watch.deny(`changes ${name}`);
      return Reflect.set(of, key, value);
    },
    defineProperty: (of, key, field) => {
      watch.deny(`changes ${name}`);
      return defineProperty(of, key, field);
    },
    deleteProperty: (of, key) => {
      watch.deny(`changes ${name}`);
      return Reflect.deleteProperty(of, key);
    },
    setPrototypeOf: (of, prototype) => {
      watch.deny(`changes ${name}`);
      return Reflect.setPrototypeOf(of, prototype);
    },
    ownKeys: (of) => ownKeys(of),
  });
}
