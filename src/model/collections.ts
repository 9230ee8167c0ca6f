/**
 * Tracked collections, as application code sees them: `scores = tracked.map<string, number>()` in a context class. They
 * are like Map, Set and an array, but the runtime pays for what an event changes in them, not for what they hold.
 * `src/state` makes them.
 */

import type { Owned, OwnedEngine } from "./owned.js";

/** What may be a key of a tracked map or an item of a tracked set. */
export type TrackedKey = string | number | boolean | bigint;

/** What a tracked collection stands for: a Map, a Set or an array. The records of an owned engine are tracked, too. */
export type TrackedKind = "map" | "set" | "list" | "owned";

/** Tells these types from others that have the same methods, such as Map. */
export declare const TRACKED: unique symbol;

type Primitive = string | number | boolean | bigint | null | undefined;
type Opaque = Date | ArrayBufferView | ArrayBuffer | Error;
type HandedOutAsCopy = Opaque | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;
type Method = (...args: never[]) => unknown;
type HasMethods<V> = true extends { [P in keyof V]: V[P] extends Method ? true : never }[keyof V]
  ? true
  : false;

/**
 * A value that a tracked collection keeps. It is frozen: to change it, set another one. What cannot be frozen (Map,
 * Set, Date, typed arrays) is handed out as a copy.
 */
export type Kept<V> = V extends Primitive | HandedOutAsCopy
  ? V
  : V extends readonly unknown[]
    ? { readonly [I in keyof V]: Kept<V[I]> }
    : V extends object
      ? HasMethods<V> extends true
        ? V
        : { readonly [P in keyof V]: Kept<V[P]> }
      : V;

/** A tracked map to look at. */
export interface ReadonlyTrackedMap<K extends TrackedKey, V> extends Iterable<[K, Kept<V>]> {
  readonly [TRACKED]: "map";
  readonly size: number;
  has(key: K): boolean;
  get(key: K): Kept<V> | undefined;
  keys(): IterableIterator<K>;
  values(): IterableIterator<Kept<V>>;
  entries(): IterableIterator<[K, Kept<V>]>;
  forEach(see: (value: Kept<V>, key: K) => void): void;
}

export interface TrackedMap<K extends TrackedKey, V> extends ReadonlyTrackedMap<K, V> {
  set(key: K, value: V | Kept<V>): this;
  delete(key: K): boolean;
  clear(): void;
}

/** A tracked set to look at. */
export interface ReadonlyTrackedSet<T extends TrackedKey> extends Iterable<T> {
  readonly [TRACKED]: "set";
  readonly size: number;
  has(item: T): boolean;
  keys(): IterableIterator<T>;
  values(): IterableIterator<T>;
  entries(): IterableIterator<[T, T]>;
  forEach(see: (item: T) => void): void;
}

export interface TrackedSet<T extends TrackedKey> extends ReadonlyTrackedSet<T> {
  add(item: T): this;
  delete(item: T): boolean;
  clear(): void;
}

/** A tracked list to look at. */
export interface ReadonlyTrackedList<T> extends Iterable<Kept<T>> {
  readonly [TRACKED]: "list";
  readonly length: number;
  /** Counts from the end if `index` is negative. */
  at(index: number): Kept<T> | undefined;
  slice(start?: number, end?: number): Kept<T>[];
}

/** Cheap at both ends. Taking out or putting in elsewhere moves all items on the shorter side of that place. */
export interface TrackedList<T> extends ReadonlyTrackedList<T> {
  /** Replaces an item that is there; counts from the end if `index` is negative. */
  set(index: number, value: T | Kept<T>): void;
  push(...values: (T | Kept<T>)[]): number;
  pop(): Kept<T> | undefined;
  unshift(...values: (T | Kept<T>)[]): number;
  shift(): Kept<T> | undefined;
  splice(start: number, deleteCount?: number, ...values: (T | Kept<T>)[]): Kept<T>[];
  clear(): void;
}

/** What is left of T for readers. */
export type Untouchable<T> =
  T extends Owned<infer _>
    ? Pick<T, "position">
    : T extends TrackedMap<infer K, infer V>
      ? ReadonlyTrackedMap<K, V>
      : T extends TrackedSet<infer I>
        ? ReadonlyTrackedSet<I>
        : T extends TrackedList<infer I>
          ? ReadonlyTrackedList<I>
          : Seen<T>;

/** Plain data to look at: changing it would do nothing, so that does not compile. Classes with methods stay as they are. */
type Seen<T> = T extends Primitive | Opaque
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<Seen<K>, Seen<V>>
    : T extends ReadonlySet<infer I>
      ? ReadonlySet<Seen<I>>
      : T extends readonly unknown[]
        ? { readonly [I in keyof T]: Seen<T[I]> }
        : T extends object
          ? HasMethods<T> extends true
            ? T
            : { readonly [P in keyof T]: Seen<T[P]> }
          : T;

/** The base of all tracked collections, by which the runtime tells them from other values. */
export abstract class Tracked {
  /** @internal */
  abstract readonly kind: TrackedKind;
  /** @internal All that it holds, as a Map, a Set or an array. */
  abstract plain(): unknown;
}

/** Who makes tracked collections. */
interface Maker {
  map(entries: Iterable<readonly [TrackedKey, unknown]>): Tracked;
  set(items: Iterable<TrackedKey>): Tracked;
  list(items: Iterable<unknown>): Tracked;
  owned(make: () => OwnedEngine, checkpointBytes: number): Tracked;
}

let maker: Maker | null = null;

/** @internal The model knows what a tracked collection is for, not how it works: `src/state` says that, once. */
export function provideCollections(own: Maker): void {
  maker = own;
}

/** @internal */
export function collectionMaker(): Maker | null {
  return maker;
}
