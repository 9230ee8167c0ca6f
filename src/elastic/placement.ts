import { type Pattern, patternOf } from "./pattern.js";

/**
 * On which host a context is. The tree of contexts is cut into *units*, which are placed by hashing: each goes to the
 * host that ranks highest for it, so that a host that comes or goes changes the places only of what it takes over or
 * had. Contexts that are no units are where their parents are. The root and the contexts right below it are units, and
 * so are contexts that a rule or a migration has given a place of their own.
 *
 * Once it has been asked for, the place of a unit is what it is until it is migrated: hosts that come and rules that
 * change say where it *should* be (`wanted`), and it is there when a migration has been made (`move`). Only what was on a
 * host that is gone is placed anew at once.
 */

/** What is placed: a node of the tree of names. */
export interface Placed {
  readonly node: string;
  readonly depth: number;
  readonly key: unknown;
  readonly parent: this | Placed | null;
  readonly shape: { readonly cls: unknown; readonly anonymous: boolean };
  toString(): string;
}

/** A context as rules of a program see it. */
export interface PlacedContext {
  /** The name of its logical node. */
  readonly node: string;
  /** Its address, as the program writes it: `Game.buildings(1).hallway`. */
  readonly path: string;
  readonly key: unknown;
  /** Its class. */
  readonly type: unknown;
}

/** Those for which it returns the same text or number are on one host; those for which it returns undefined are left alone. */
export type Colocate = (context: PlacedContext) => string | number | undefined;

/** The name of the group that a rule places a context with, if one does. What makes no sense is thrown. */
export function togetherBy(rule: Colocate, context: Placed): string | null {
  const { node, key, shape } = context;
  const name: unknown = rule({ node, path: String(context), key, type: shape.cls });
  if (name === undefined || name === null) return null;
  if (typeof name === "string" || typeof name === "number") return `${typeof name} ${name}`;
  throw new TypeError(
    `it returned ${name instanceof Promise ? "a promise" : `a ${typeof name}`}, and should return a text, a number or undefined`,
  );
}

/** A unit's place. */
interface UnitPlacement<H> {
  readonly host: H;
  /** Was it asked for by name? Then it stays, though hashing would give another one. */
  readonly isRequested: boolean;
}

interface Pin<H> {
  readonly pattern: Pattern;
  readonly host: H;
}

interface Known<H> {
  readonly host: H;
  readonly version: number;
}

/** `H` is what names a host. */
export class Placement<H extends number = number> {
  #hosts: readonly H[];
  /** Hosts that take no more. */
  readonly #closed = new Set<H>();
  /** Counts the changes of the map. */
  #version = 1;
  /** What was looked up since the map changed last. */
  readonly #found = new WeakMap<Placed, Known<H>>();
  /** The places of units that have been asked for. */
  readonly #places = new WeakMap<Placed, UnitPlacement<H>>();
  /** Contexts that are units because they were migrated by themselves. */
  readonly #exceptions = new Set<Placed>();
  /** Contexts whose places have been asked for: perhaps nothing else refers to them for a while. */
  readonly #requested = new Set<Placed>();
  readonly #separate = new Set<unknown>();
  readonly #colocate: Colocate[] = [];
  /** What those rules have said, which is asked for once. */
  #named = new WeakMap<Placed, string | null>();
  readonly #pins: Pin<H>[] = [];
  /** Hears that a rule of `colocate` could not say where a context belongs: it is placed as if there were no such rule. */
  onMisrule: (context: Placed, error: unknown) => void = () => {};

  constructor(
    hosts: Iterable<NoInfer<H>>,
    /** How far down every context is a unit. */
    readonly depth = 1,
  ) {
    this.#hosts = [...hosts];
  }

  get hosts(): readonly H[] {
    return this.#hosts;
  }

  /** Do contexts go there? */
  isOpen(host: H): boolean {
    return this.#hosts.includes(host) && !this.#closed.has(host);
  }

  /** A host has come. Units that have a place keep it until they are migrated. */
  add(host: H): void {
    this.#hosts = [...this.#hosts, host];
    this.#version += 1;
  }

  /** Nothing is placed on that host any more. What is there stays until it is migrated. */
  close(host: H): void {
    this.#closed.add(host);
    this.#version += 1;
  }

  open(host: H): void {
    this.#closed.delete(host);
    this.#version += 1;
  }

  /** A host is gone; others take over what it had. */
  remove(host: H): void {
    this.#hosts = this.#hosts.filter((each) => each !== host);
    this.#closed.delete(host);
    this.#version += 1;
  }

  of(context: Placed): H {
    const found = this.#found.get(context);
    if (found?.version === this.#version) return found.host;
    const host =
      this.#isUnit(context) || context.parent === null ? this.#place(context) : this.of(context.parent);
    this.#found.set(context, { host, version: this.#version });
    return host;
  }

  /** What migrates as one with this context: the unit that it is part of. */
  unitOf<P extends Placed>(context: P): P {
    let unit: Placed = context;
    while (!this.#isUnit(unit) && unit.parent !== null) unit = unit.parent;
    return unit as P;
  }

  /** Does a rule say where it is, so that nothing else should? */
  isBound(context: Placed): boolean {
    return this.#isPinned(context) || this.#together(context) !== null;
  }

  /** The pin that keeps a context where it is, if there is one. */
  pinOf(context: Placed): { readonly address: string; readonly host: H } | null {
    const pin = this.#pin(context);
    return pin === null ? null : { address: pin.pattern.text, host: pin.host };
  }

  /** Where a unit that has a place should be migrated, if it is not where it should be. */
  wanted(context: Placed): H | null {
    if (context.shape.anonymous || !this.#places.has(context) || !this.#isUnit(context)) return null;
    this.of(context); // a place on a host that is gone is none
    const place = this.#places.get(context) as UnitPlacement<H>;
    if (place.isRequested && this.isOpen(place.host) && this.#pin(context) === null) return null;
    const host = this.#home(context);
    return host === place.host ? null : host;
  }

  /** Does a context stay where it is when one above it is migrated? Units do, but units that a migration has made come along if wanted. */
  staysBehind(context: Placed, withExceptions: boolean): boolean {
    return this.#isUnitByRule(context) || (!withExceptions && this.#exceptions.has(context));
  }

  /**
   * A context was migrated, with all that is below it, apart from `staying` and what is below those. `isRequested` says that
   * it was asked for, whatever hashing says; then contexts below that had been migrated by themselves have come along.
   */
  move(context: Placed, host: H, isRequested: boolean, staying: Iterable<Placed> = []): void {
    const places = [...staying].map((each) => [each, this.of(each)] as const);
    this.#version += 1;
    if (isRequested)
      for (const each of this.#exceptions) if (this.#comesAlong(each, context)) this.#join(each);
    this.#join(context);
    const isWithParent = context.parent !== null && this.of(context.parent) === host;
    if (this.#isUnit(context) || !isWithParent) {
      if (!this.#isUnit(context)) this.#exceptions.add(context);
      this.#put(context, host, isRequested);
    }
    this.#version += 1;
    for (const [each, place] of places) {
      if (this.of(each) === place) continue;
      this.#exceptions.add(each);
      this.#put(each, place, false);
      this.#version += 1;
    }
  }

  #comesAlong(context: Placed, top: Placed): boolean {
    for (let at: Placed | null = context; at !== null; at = at.parent) {
      if (at === top) return context !== top;
      if (this.#isUnitByRule(at)) return false;
    }
    return false;
  }

  /** Has a migration given it a place? */
  wasMoved(context: Placed): boolean {
    return this.#exceptions.has(context) || this.#requested.has(context);
  }

  /** A context was deleted, with all that is below it: the place that a migration gave it is not kept for another one of its name. */
  forget(context: Placed): void {
    this.#join(context);
    this.#version += 1;
  }

  /** It has no place of its own any more, unless by a rule. */
  #join(context: Placed): void {
    this.#exceptions.delete(context);
    this.#requested.delete(context);
    this.#places.delete(context);
  }

  #put(context: Placed, host: H, isRequested: boolean): void {
    this.#places.set(context, { host, isRequested });
    if (isRequested) this.#requested.add(context);
    else this.#requested.delete(context);
  }

  /**
   * Changes the rules. `existing` are all contexts that may be on a host: contexts that become units keep their places
   * until they are migrated.
   */
  change(existing: Iterable<Placed>, rules: () => void): void {
    const before = [...existing].map(
      (context) => [context, this.of(context), this.#isUnit(context)] as const,
    );
    rules();
    this.#version += 1;
    for (const [context, host, wasUnit] of before) {
      const isUnit = this.#isUnit(context);
      if (isUnit && wasUnit) continue;
      if (!isUnit && context.parent !== null && this.of(context.parent) === host) {
        this.#join(context);
        continue;
      }
      if (!isUnit) this.#exceptions.add(context); // it was a unit, and is not where its parent is
      this.#put(context, host, false);
      this.#version += 1;
    }
  }

  /** Contexts of this class are units. */
  separate(cls: unknown): void {
    this.#separate.add(cls);
  }

  colocate(rule: Colocate): void {
    this.#colocate.push(rule);
    this.#named = new WeakMap();
  }

  /** Contexts with such an address (`*` for any key) are units on that host, as long as it is there and open. */
  pin(pattern: string, host: H): void {
    this.unpin(pattern);
    this.#pins.push({ pattern: patternOf(pattern), host });
  }

  unpin(pattern: string): void {
    const at = this.#pins.findIndex((pin) => pin.pattern.text === pattern);
    if (at >= 0) this.#pins.splice(at, 1);
  }

  #isUnit(context: Placed): boolean {
    return this.#exceptions.has(context) || this.#isUnitByRule(context);
  }

  #isUnitByRule(context: Placed): boolean {
    return (
      context.depth <= this.depth ||
      this.#separate.has(context.shape.cls) ||
      this.#isPinned(context) ||
      this.#together(context) !== null
    );
  }

  #isPinned(context: Placed): boolean {
    return this.#pins.length > 0 && this.#pins.some(({ pattern }) => pattern.matches(String(context)));
  }

  /** The pin of a context, if its host is open. */
  #pin(context: Placed): Pin<H> | null {
    if (this.#pins.length === 0) return null;
    const path = String(context);
    return this.#pins.findLast(({ pattern, host }) => this.isOpen(host) && pattern.matches(path)) ?? null;
  }

  /** The name of the group that it is placed with, if a rule says so. */
  #together(context: Placed): string | null {
    if (this.#colocate.length === 0) return null;
    const known = this.#named.get(context);
    if (known !== undefined) return known;
    let together: string | null = null;
    for (const rule of this.#colocate) {
      try {
        together ??= togetherBy(rule, context);
      } catch (error) {
        this.onMisrule(context, error);
      }
    }
    this.#named.set(context, together);
    return together;
  }

  /** The place of a unit; if it has none yet, or its host is gone, it gets one. */
  #place(unit: Placed): H {
    const place = this.#places.get(unit);
    const isThere = place !== undefined && this.#hosts.includes(place.host);
    if (isThere && !(unit.shape.anonymous && this.#closed.has(place.host))) return place.host;
    const host = this.#home(unit);
    this.#put(unit, host, false);
    return host;
  }

  /** Where a unit belongs, requests to migrate it aside. */
  #home(unit: Placed): H {
    const pin = this.#pin(unit);
    if (pin !== null) return pin.host;
    if (unit.parent !== null && this.#exceptions.has(unit) && !this.#isUnitByRule(unit)) {
      const host = this.of(unit.parent);
      if (this.isOpen(host)) return host;
    }
    return this.#best(this.#together(unit) ?? `${unit.node} ${unit}`);
  }

  /** Without any host, the first that there will be. */
  #best(name: string): H {
    let best = this.#hosts[0] ?? (0 as H);
    let rank = -1;
    for (const host of this.#hosts) {
      if (this.#closed.has(host) && this.#closed.size < this.#hosts.length) continue;
      const own = hash(`${host} ${name}`);
      if (own > rank) [best, rank] = [host, own];
    }
    return best;
  }
}

/** FNV-1a, with its bits well mixed in the end. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}
