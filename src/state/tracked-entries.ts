import { invariant } from "../errors.js";
import type { TrackedKey } from "../model/collections.js";
import type { At, EntryAt, FirstSteps, Found, Store, UndoStep, Version } from "./tracked-version.js";

/** An entry of a map, or an item of a set. Its neighbours are those in the order of insertion. */
export class TrackedEntry implements EntryAt, Found {
  before: TrackedEntry = this;
  after: TrackedEntry = this;
  isIn = false;
  /** The version in which it was added, or in which a step has noted its value. */
  noted = 0;

  constructor(
    readonly key: TrackedKey,
    readonly sequence: number,
    public value: unknown,
  ) {}

  get at(): At {
    return this;
  }
}

/**
 * The content of a tracked map or set: entries by key, and a ring of them in the order of insertion. An entry that is
 * taken out keeps its neighbours. Steps are undone last to first, so those are its neighbours again when it is put
 * back: order is restored exactly, without looking at other entries (D. Knuth: Dancing Links, 2000).
 */
export class EntryStore implements Store {
  readonly first = 0;
  readonly #byKey = new Map<TrackedKey, TrackedEntry>();
  /** Stands between the last entry and the first. */
  readonly ring = new TrackedEntry("", 0, undefined);

  get size(): number {
    return this.#byKey.size;
  }

  find(key: TrackedKey): TrackedEntry | undefined {
    return this.#byKey.get(key);
  }

  *all(): Iterable<TrackedEntry> {
    for (let at = this.ring.after; at !== this.ring; at = at.after) yield at;
  }

  /** The entry after one that is in the map, or was; the first one after `ring`. */
  next(entry: TrackedEntry): TrackedEntry | null {
    let at = entry;
    while (!at.isIn && at !== this.ring) at = at.before;
    return at.after === this.ring ? null : at.after;
  }

  /** Adds an entry or gives it another value, in a version that is open and the root. */
  put(open: Version, key: TrackedKey, value: unknown): void {
    const entry = this.#byKey.get(key);
    if (entry === undefined) {
      const added = new TrackedEntry(key, this.ring.before.sequence + 1, value);
      added.noted = open.id;
      added.before = this.ring.before;
      added.after = this.ring;
      this.#link(added);
      open.base?.steps.push({ kind: "add", at: added, value: undefined });
      return;
    }
    if (entry.noted !== open.id) {
      entry.noted = open.id;
      open.base?.steps.push({ kind: "set", at: entry, value: entry.value });
    }
    entry.value = value;
  }

  remove(open: Version, key: TrackedKey): boolean {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return false;
    this.#unlink(entry);
    open.base?.steps.push({ kind: "remove", at: entry, value: entry.value });
    return true;
  }

  /** Puts in what was loaded; the entries come in the order of their sequence. */
  load(key: TrackedKey, sequence: number, value: unknown): void {
    const entry = new TrackedEntry(key, sequence, value);
    entry.before = this.ring.before;
    entry.after = this.ring;
    this.#link(entry);
  }

  /** Takes out what was loaded. */
  unload(entry: TrackedEntry): void {
    this.#unlink(entry);
  }

  /** Brings what was loaded in another order into that of its sequence. */
  sort(): void {
    let last = this.ring;
    for (const entry of [...this.#byKey.values()].sort((a, b) => a.sequence - b.sequence)) {
      invariant(entry.sequence > last.sequence, "loaded entries have an order");
      last.after = entry;
      entry.before = last;
      last = entry;
    }
    last.after = this.ring;
    this.ring.before = last;
  }

  undo(step: UndoStep): UndoStep {
    const entry = step.at as TrackedEntry;
    const { value } = entry;
    if (step.kind === "add") {
      this.#unlink(entry);
      return { kind: "remove", at: entry, value };
    }
    entry.value = step.value;
    if (step.kind === "set") return { kind: "set", at: entry, value };
    this.#link(entry);
    return { kind: "add", at: entry, value: undefined };
  }

  /**
   * Every touched entry is there again with the value that it had. Entries that were put in again are at the end, so the
   * order is as it was if they had been at the end before, in this order.
   */
  isAsBefore(before: FirstSteps): boolean {
    let behind = Number.POSITIVE_INFINITY;
    for (let entry = this.ring.before; entry !== this.ring; entry = entry.before) {
      const then = before.get(entry.key)?.at as TrackedEntry | undefined;
      const { sequence } = then ?? entry;
      if (sequence >= behind) return false;
      if (then === undefined || then === entry) return true;
      behind = sequence;
    }
    return true;
  }

  #link(entry: TrackedEntry): void {
    entry.before.after = entry;
    entry.after.before = entry;
    entry.isIn = true;
    this.#byKey.set(entry.key, entry);
  }

  #unlink(entry: TrackedEntry): void {
    entry.before.after = entry.after;
    entry.after.before = entry.before;
    entry.isIn = false;
    this.#byKey.delete(entry.key);
  }
}
