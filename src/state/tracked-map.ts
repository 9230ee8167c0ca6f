import type { Kept, TRACKED, TrackedKey, TrackedMap, TrackedSet } from "../model/collections.js";
import { EntryStore, type TrackedEntry } from "./tracked-entries.js";
import { Live } from "./tracked-live.js";
import { checkKey, give, take } from "./tracked-values.js";
import { all, type Found, find, keyOf, sequenceOf, Version } from "./tracked-version.js";

/** What tracked maps and sets have in common: entries with keys, in the order of insertion. */
abstract class LiveEntries extends Live {
  protected override empty(): Version {
    return Version.root(this.kind, new EntryStore());
  }

  protected override reach(): EntryStore | null {
    return super.reach() as EntryStore | null;
  }

  get size(): number {
    return this.reach()?.size ?? this.version.size;
  }

  has(key: TrackedKey): boolean {
    return this.find(key) !== undefined;
  }

  delete(key: TrackedKey): boolean {
    this.refuseView();
    if (!this.has(key)) return false;
    const open = this.open();
    return (open.store as EntryStore).remove(open, key);
  }

  clear(): void {
    this.refuseView();
    if (this.size === 0) return;
    const open = this.open();
    const store = open.store as EntryStore;
    for (const { key } of store.all()) store.remove(open, key);
  }

  protected put(key: unknown, value: unknown): void {
    const open = this.open();
    const checked = checkKey(key, () => this.where);
    (open.store as EntryStore).put(open, checked, value);
  }

  protected find(key: TrackedKey): Found | undefined {
    const store = this.reach();
    return store === null ? find(this.version, key) : store.find(key);
  }

  /**
   * All entries, and entries that are added meanwhile, without entries that are taken out meanwhile, as a Map does it. The
   * root may move away and come back between two of them; what is left is then read from the version.
   */
  protected *walk(): Generator<Found, undefined> {
    let at: TrackedEntry | null = null;
    let version: Version | null = null;
    let rest: Iterator<Found> | null = null;
    for (;;) {
      const store = this.reach();
      if (store !== null) {
        at = store.next(at ?? store.ring);
        if (at === null) return;
        rest = null;
        yield at;
        continue;
      }
      if (rest === null || version !== this.version) {
        version = this.version;
        rest = entriesBehind(version, at);
      }
      const next = rest.next();
      if (next.done) return;
      at = next.value.at as TrackedEntry;
      yield next.value;
    }
  }
}

function* entriesBehind(version: Version, at: TrackedEntry | null): Generator<Found, undefined> {
  for (const found of [...all(version)]) if (at === null || sequenceOf(found.at) > at.sequence) yield found;
}

export class LiveMap extends LiveEntries implements TrackedMap<TrackedKey, unknown> {
  declare readonly [TRACKED]: "map";
  readonly kind = "map";

  constructor(entries: Iterable<readonly [TrackedKey, unknown]>) {
    super();
    for (const [key, value] of entries) this.set(key, value);
  }

  get(key: TrackedKey): Kept<unknown> {
    const found = this.find(key);
    return found === undefined ? undefined : give(found.value);
  }

  set(key: TrackedKey, value: unknown): this {
    this.put(
      key,
      take(value, () => `${this.where}.get(${JSON.stringify(String(key))})`),
    );
    return this;
  }

  *keys(): Generator<TrackedKey, undefined> {
    for (const { at } of this.walk()) yield keyOf(at);
  }

  *values(): Generator<unknown, undefined> {
    for (const { value } of this.walk()) yield give(value);
  }

  *entries(): Generator<[TrackedKey, unknown], undefined> {
    for (const { at, value } of this.walk()) yield [keyOf(at), give(value)];
  }

  [Symbol.iterator](): Generator<[TrackedKey, unknown], undefined> {
    return this.entries();
  }

  forEach(see: (value: unknown, key: TrackedKey) => void): void {
    for (const [key, value] of this) see(value, key);
  }

  override plain(): Map<TrackedKey, unknown> {
    return new Map(this);
  }
}

export class LiveSet extends LiveEntries implements TrackedSet<TrackedKey> {
  declare readonly [TRACKED]: "set";
  readonly kind = "set";

  constructor(items: Iterable<TrackedKey>) {
    super();
    for (const item of items) this.add(item);
  }

  add(item: TrackedKey): this {
    this.refuseView();
    if (!this.has(item)) this.put(item, undefined);
    return this;
  }

  *keys(): Generator<TrackedKey, undefined> {
    for (const { at } of this.walk()) yield keyOf(at);
  }

  values(): Generator<TrackedKey, undefined> {
    return this.keys();
  }

  *entries(): Generator<[TrackedKey, TrackedKey], undefined> {
    for (const key of this.keys()) yield [key, key];
  }

  [Symbol.iterator](): Generator<TrackedKey, undefined> {
    return this.keys();
  }

  forEach(see: (item: TrackedKey) => void): void {
    for (const item of this) see(item);
  }

  override plain(): Set<TrackedKey> {
    return new Set(this);
  }
}
