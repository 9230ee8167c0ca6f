import { HeadwaterError } from "../errors.js";
import type { Address } from "./address.js";
import type { Untouchable } from "./collections.js";
import type { TimerId } from "./event.js";
import { INSPECT } from "./inspect.js";
import type { OutsideResult } from "./outside.js";
import type { Method, Shape } from "./shape.js";

declare const CHILD: unique symbol;
declare const TARGET: unique symbol;

type AnyMethod = (...args: never[]) => unknown;
type KeyArgs<C> = C extends { readonly key: infer K } ? (K extends readonly unknown[] ? K : [key: K]) : never;
type Below = { readonly [CHILD]: unknown } | { readonly [TARGET]: unknown };
type MethodKey<T, P extends keyof T> = P extends string
  ? T[P] extends Below
    ? never
    : T[P] extends AnyMethod
      ? P
      : never
  : never;
type ChildKey<T, P extends keyof T> = T[P] extends Below ? P : never;

/** The keyed children of a context: call it with a key to get a reference. */
export interface Children<C> {
  (...key: KeyArgs<C>): Ref<C>;
  readonly [CHILD]: C;
}

/** Something that names a context of class T. */
export interface Target<T> {
  readonly [TARGET]: T;
}

/** A reference to a context: its methods, each returning a promise, and the contexts below it. */
export type Ref<T> = Target<T> & {
  readonly [P in keyof T as ChildKey<T, P>]: T[P];
} & {
  readonly [P in keyof T as MethodKey<T, P>]: T[P] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** Names a context that cannot be called from here, only aimed at with `start` or `send`. */
export type Elsewhere<T> = Target<T> & {
  readonly [P in keyof T as ChildKey<T, P>]: T[P] extends { readonly [CHILD]: infer C }
    ? (...key: KeyArgs<C>) => Elsewhere<C>
    : T[P] extends { readonly [TARGET]: infer C }
      ? Elsewhere<C>
      : never;
};

/** The methods of a context, to be run by a later event: there is no result to wait for. */
export type Later<T> = {
  readonly [P in keyof T as MethodKey<T, P>]: T[P] extends (...args: infer A) => unknown
    ? (...args: A) => void
    : never;
};

/** The methods of a context, to be run by a timer's event: each returns the name of its timer. */
export type Timed<T> = {
  readonly [P in keyof T as MethodKey<T, P>]: T[P] extends (...args: infer A) => unknown
    ? (...args: A) => TimerId
    : never;
};

/** The methods of a context that take the result of an outside call: called here with their further arguments. */
export type Answered<T, R> = {
  readonly [P in keyof T as MethodKey<T, P>]: T[P] extends (result: infer F, ...args: infer A) => unknown
    ? OutsideResult<R> extends F
      ? (...args: A) => void
      : never
    : never;
};

/** The state of a context, to look at: what it holds is read-only, all the way down. */
export type View<T> = {
  readonly [P in keyof T as P extends string
    ? T[P] extends Below | AnyMethod
      ? never
      : P
    : never]: Untouchable<T[P]>;
};

export const INVOKE: unique symbol = Symbol("invoke");

/** Decides what calling a method through a reference means: a request, a call, a later event, a message. */
export interface InvocationScope {
  [INVOKE](target: Address, method: Method, args: unknown[]): unknown;
}

/** The base of all references. Each context class gets a subclass with its methods and children. */
export class Reference {
  readonly #scope: InvocationScope;
  readonly #address: Address;

  constructor(scope: InvocationScope, address: Address) {
    this.#scope = scope;
    this.#address = address;
  }

  /** A Proxy stands between a reference and this class, which the usual walk up the prototypes would not see. */
  static [Symbol.hasInstance](value: unknown): value is Reference {
    return typeof value === "object" && value !== null && #address in value;
  }

  static addressOf(target: unknown): Address {
    if (target instanceof Reference) return target.#address;
    throw new HeadwaterError(
      "HW-1018",
      `${String(target)} is not a reference to a context${hintFor(target)}.`,
    );
  }

  static invoke(reference: Reference, method: Method, args: unknown[]): unknown {
    return reference.#scope[INVOKE](reference.#address, method, args);
  }

  static scopeOf(reference: Reference): InvocationScope {
    return reference.#scope;
  }

  toString(): string {
    return #address in this ? this.#address.toString() : "Reference";
  }

  [INSPECT](): string {
    return this.toString();
  }
}

function hintFor(target: unknown): string {
  if (target !== undefined) return "";
  return (
    ", nor the name of a client. If it is `this.event.caller`: no connected client asked for this event, which may be a " +
    "started one, a timer or a message. Check `this.event.caller` before sending to it"
  );
}

export type ReferenceClass = new (scope: InvocationScope, address: Address) => Reference;

/** The same context, called in another way. */
export function reference(scope: InvocationScope, address: Address): Reference {
  return new address.shape.Reference(scope, address);
}

/** Names that JavaScript, Node or test libraries look up on any object, and that must stay absent. */
const LOOKED_UP_ON_ANYTHING = new Set([
  "then",
  "toJSON",
  "constructor",
  "inspect",
  "href",
  "nodeType",
  "tagName",
  "asymmetricMatch",
  "$$typeof",
]);

/** Sits behind a reference's own names, so that a method that does not exist is refused by name. */
export function refuseUnknown(shape: Shape): object {
  return new Proxy(Reference.prototype, {
    get(target, name, receiver) {
      if (typeof name === "symbol" || LOOKED_UP_ON_ANYTHING.has(name) || name in target) {
        return Reflect.get(target, name, receiver);
      }
      throw noSuchMethod(shape, name, receiver instanceof Reference ? receiver.toString() : shape.name);
    },
  });
}

export function noSuchMethod(shape: Shape, name: string, where: string): HeadwaterError {
  const known = [...shape.methods.keys()].join(", ") || "none";
  return new HeadwaterError(
    "HW-1007",
    `${where} has no method "${name}". ${shape.name} has these methods: ${known}.`,
  );
}
