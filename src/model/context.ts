import { HeadwaterError } from "../errors.js";
import type { Address } from "./address.js";
import { WHICH } from "./below.js";
import type { Tracked } from "./collections.js";
import type { CurrentEvent } from "./event.js";
import { givenInside } from "./inside.js";
import { INSPECT, type Inspect, showContext } from "./inspect.js";
import { type Key, keyFrom } from "./key.js";
import { type Children, type Elsewhere, INVOKE, type InvocationScope, type Ref, reference } from "./refs.js";
import { isKindOf, type Method, nameOf } from "./shape.js";

export type ContextClass<C extends Context<Key> = Context<Key>> = new () => C;

/** Asks for nothing if contexts of this class have a key. What it asks for otherwise is what the compiler then says. */
type HasKey<C extends Context<Key>> = [C["key"]] extends [never]
  ? "a class with a key, as Context<string> has one (a single child is declared with this.child)"
  : unknown;

/** What a runtime lends a context while an event runs in it. */
export interface Activation {
  /** What `this.event` is. */
  readonly event: CurrentEvent;
  call(target: Address, method: Method, args: unknown[]): Promise<unknown>;
  /** The context has called an async method of its own; what is returned takes the place of the method's promise. */
  own(method: { readonly name: string }, promise: Promise<unknown>): Promise<unknown>;
  downgrade(): void;
}

interface MadeBelow {
  readonly marker: unknown;
  readonly cls: ContextClass;
  readonly single: boolean;
}

/** Set while the runtime constructs a context, so that field initialisers know which one they are part of. */
let construction: Construction | null = null;

interface Construction {
  readonly address: Address | null;
  readonly key: Key | undefined;
  /** How many fields with children have been declared so far. */
  declared: number;
  /** The same fields, if the caller wants to know. */
  readonly below: MadeBelow[] | null;
  /** The tracked collections that were made, if the caller wants to know. */
  readonly tracked: Tracked[] | null;
}

/** Takes note of a tracked collection; false if no field initialiser of a context runs now. */
export function noteTracked(collection: Tracked): boolean {
  construction?.tracked?.push(collection);
  return construction !== null;
}

/** Thrown while a class is inspected without a key and one of its field initialisers asks for it. */
export class NeedsKey extends Error {}

/**
 * A named part of a logical node's state, with the methods that may touch it. Subclasses declare plain fields
 * and ordinary or async methods; the runtime makes an instance when the context is first used.
 */
export abstract class Context<K extends Key = never> implements InvocationScope {
  readonly #address: Address | null;
  #activation: Activation | null = null;

  constructor() {
    if (construction === null) {
      throw new HeadwaterError(
        "HW-1016",
        `new ${nameOf(new.target)}() was called by hand. Contexts are made by the runtime when they are first used: ` +
          "declare them with `this.children(Class)` or `this.child(Class)`, or pass the root class to `run`.",
      );
    }
    this.#address = construction.address;
  }

  /** What names this context among its siblings. */
  get key(): K {
    if (this.#address !== null) return this.#address.key as K;
    if (construction?.key === undefined) throw new NeedsKey();
    return construction.key as K;
  }

  /** The event that runs in this context now. */
  protected get event(): CurrentEvent {
    return this.#current("this.event").event;
  }

  /** Declares children that are told apart by their keys and made on first use. */
  protected children<C extends Context<Key>>(cls: ContextClass<C> & HasKey<C>): Children<C> {
    const slot = this.#declare(cls, false);
    const address = this.#address;
    const own = address?.shape.slots[slot];
    const children =
      address === null || own === undefined
        ? () => {
            throw this.#malformed();
          }
        : (...key: unknown[]) =>
            key[0] === WHICH
              ? { address, slot: own }
              : reference(this, address.child(own, keyFrom(key, own.field)));
    this.#note(slot, children, cls as ContextClass, false);
    return children as unknown as Children<C>;
  }

  /** Declares a single child. */
  protected child<C extends Context>(cls: ContextClass<C>): Ref<C> {
    const slot = this.#declare(cls, true);
    const address = this.#address;
    const own = address?.shape.slots[slot];
    const child = address === null || own === undefined ? {} : reference(this, address.child(own, undefined));
    this.#note(slot, child, cls as unknown as ContextClass, true);
    return child as unknown as Ref<C>;
  }

  /** Names the nearest context of a class at or above this one, to aim later events at it or below it. */
  protected above<T extends Context<Key>>(cls: ContextClass<T>): Elsewhere<T> {
    return reference(
      this,
      addressAbove(this.#place().address, cls as ContextClass),
    ) as unknown as Elsewhere<T>;
  }

  /**
   * Gives up write access to this context: later events may enter it, this one goes on seeing it as it is now
   * and may still call the contexts below.
   */
  protected downgrade(): void {
    this.#current("this.downgrade()").downgrade();
  }

  /** @internal Calls through a reference that this context made. */
  [INVOKE](target: Address, method: Method, args: unknown[]): Promise<unknown> {
    if (this.#activation !== null) return this.#activation.call(target, method, args);
    return Promise.reject(outside(`${target}.${method.name}(…)`, this.#address));
  }

  /** @internal */
  [INSPECT](depth: number, options: object, inspect: Inspect): string {
    if (#address in this && this.#address !== null)
      return showContext(this, this.#address, depth, options, inspect);
    return inspect(this, { ...options, customInspect: false });
  }

  /** @internal */
  static activate(context: Context<Key>, activation: Activation | null): void {
    context.#activation = activation;
  }

  /** @internal A context has called an async method of its own. Outside an event, its promise stays what it is. */
  static watch(
    context: Context<Key>,
    method: { readonly name: string },
    promise: Promise<unknown>,
  ): Promise<unknown> {
    const activation = #activation in context ? context.#activation : null;
    return activation === null ? promise : activation.own(method, promise);
  }

  /** @internal */
  static activationOf(context: Context<Key>): Activation | null {
    return context.#activation;
  }

  /** @internal */
  static construct(address: Address): Context<Key> {
    const outer = construction;
    construction = { address, key: address.key, declared: 0, below: null, tracked: null };
    try {
      return Object.seal(new address.shape.cls());
    } finally {
      construction = outer;
    }
  }

  #current(what: string): Activation {
    if (this.#activation === null) throw outside(what, this.#address);
    return this.#activation;
  }

  #place() {
    if (this.#address === null) throw this.#malformed();
    return { address: this.#address, slots: this.#address.shape.slots };
  }

  #declare(cls: unknown, single: boolean): number {
    if (construction === null || typeof cls !== "function") throw this.#malformed();
    const slot = construction.declared;
    construction.declared += 1;
    const known = this.#address?.shape.slots[slot];
    if (this.#address !== null && (known?.cls !== cls || known.single !== single)) throw this.#malformed();
    return slot;
  }

  #note(slot: number, marker: unknown, cls: ContextClass, single: boolean): void {
    const below = construction?.below ?? null;
    if (below !== null) below[slot] = { marker, cls, single };
  }

  #malformed(): HeadwaterError {
    const name = nameOf(this.constructor);
    return new HeadwaterError(
      "HW-1017",
      `${name} must declare the same children each time it is made, as fields: \`rooms = this.children(Room)\`. ` +
        "They cannot be declared in a method, under a condition, or used by a field initialiser.",
    );
  }
}

/** A context without state: its events never wait and may run anywhere. */
export abstract class AnonymousContext<K extends Key = never> extends Context<K> {}

/** Makes one instance of a class that belongs to no logical node, to see what it declares. */
export function probe(
  cls: ContextClass,
  key: Key | undefined,
): { instance: object; below: readonly MadeBelow[]; tracked: readonly Tracked[] } {
  const outer = construction;
  const below: MadeBelow[] = [];
  const tracked: Tracked[] = [];
  construction = { address: null, key, declared: 0, below, tracked };
  try {
    return { instance: new cls(), below, tracked };
  } finally {
    construction = outer;
  }
}

export function addressAbove(address: Address, cls: ContextClass): Address {
  for (let at: Address | null = address; at !== null; at = at.parent) {
    if (isKindOf(at.shape.cls, cls)) return at;
  }
  throw new HeadwaterError("HW-1014", `${address} has no ${nameOf(cls)} at or above it.`);
}

/** The contexts above whose state an event that begins with this method may read. */
export function declaredReads(address: Address, method: Method): readonly Address[] {
  if (method.reads.length === 0) return NO_READS;
  const above = new Set(method.reads.map((cls) => addressAbove(address, cls)));
  above.delete(address);
  return [...above];
}

const NO_READS: readonly Address[] = [];

function outside(what: string, address: Address | null): HeadwaterError {
  const error = new HeadwaterError(
    "HW-1008",
    `${what} was used in ${address ?? "a context"} while no event runs there. A context may be used only from its ` +
      "own methods, until they return; keep no `this` for later (in a timer, a listener, an unawaited promise): " +
      "use `this.event.start` or `this.event.after` instead.",
  );
  givenInside(error, address, null);
  return error;
}
