import { invariant } from "../errors.js";
import type { TrackedKey, TrackedKind } from "../model/collections.js";
import { isSameKept } from "./tracked-values.js";

/**
 * The states that a tracked collection has had, as Baker's persistent arrays (H. G. Baker: Shallow Binding Makes
 * Functional Arrays Fast, 1991). All versions of one collection share one store, which holds the content of one of
 * them: the root. Every other version knows its neighbour on the way to the root, and the steps that lead from itself
 * to there; undoing those, last to first, leads back. So reading the newest version is reading the store, a change is
 * a change in the store and one step, and going back costs as many steps as were taken.
 *
 * Versions point towards the root only. A version without references is garbage, with its steps.
 *
 * A version is *open* while a method works on it, and then frozen for good. An open version has one neighbour, the
 * version that it began as, and belongs to one live collection.
 */

/** An entry of a map or a set. It stays the same object in all versions that have it. */
export interface EntryAt {
  readonly key: TrackedKey;
  /** The order of entries is the order of these. */
  readonly sequence: number;
}

/** Where a value stands: at an entry of a map or set, at a position of a list. */
export type At = EntryAt | number;

export function keyOf(at: At): TrackedKey {
  return typeof at === "number" ? at : at.key;
}

/** As a Map tells keys apart: 0 is -0, and NaN is itself. */
function isSameKey(a: TrackedKey, b: TrackedKey): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

export function sequenceOf(at: At): number {
  return typeof at === "number" ? at : at.sequence;
}

export interface Found {
  readonly at: At;
  readonly value: unknown;
}

/** A change, with what was there before it. */
export interface UndoStep extends Found {
  readonly kind: "add" | "set" | "remove";
}

/** The first steps that were taken at each key: they know what was there before. */
export type FirstSteps = ReadonlyMap<TrackedKey, UndoStep>;

/** The content of the root. */
export interface Store {
  readonly size: number;
  /** The position of the first item of a list. */
  readonly first: number;
  find(key: TrackedKey): Found | undefined;
  all(): Iterable<Found>;
  /** Takes a step back, and returns the step that leads forward again. */
  undo(step: UndoStep): UndoStep;
  /** Is the content what it was, although some of it was taken out and put in again? */
  isAsBefore(before: FirstSteps, size: number, first: number): boolean;
}

/** What became of one entry. Positions of a list are keys, too; they may be negative. */
export interface EntryChange {
  readonly key: TrackedKey;
  readonly sequence: number;
  readonly value: unknown;
  readonly deleted: boolean;
}

const NO_STEPS: UndoStep[] = [];
let lastId = 0;

export class Version {
  readonly id = ++lastId;
  /** The content, in the root alone. */
  store: Store | null = null;
  /** The neighbour on the way to the root, and the steps to there. */
  next: Version | null = null;
  steps: UndoStep[] = NO_STEPS;
  /** The version that this one began as, until it is frozen. */
  base: Version | null = null;
  size = 0;
  first = 0;
  /** What is different from the version that this one began as, which is not held on to. */
  baseId = 0;
  delta: readonly EntryChange[] = [];
  /** What was here and is not so in `sameBeyond`, a frozen version on the way to the root. */
  differences: Map<TrackedKey, UndoStep> | null = null;
  sameBeyond: Version = this;

  constructor(readonly kind: TrackedKind) {}

  get isOpen(): boolean {
    return this.base !== null;
  }

  static root(kind: TrackedKind, store: Store): Version {
    const version = new Version(kind);
    version.store = store;
    version.size = store.size;
    version.first = store.first;
    return version;
  }

  /** A version to work on that begins as this one. */
  begin(): Version {
    invariant(!this.isOpen, "a version that is worked on cannot be the beginning of another one");
    toRoot(this);
    const open = new Version(this.kind);
    open.base = this;
    open.store = this.store;
    this.store = null;
    this.next = open;
    this.steps = [];
    return open;
  }

  /** Ends the work on a version: it, or the version that it began as if they do not differ. */
  freeze(): Version {
    const { base } = this;
    if (base === null) return this;
    toRoot(this);
    const { store } = this;
    invariant(store !== null, "the root of a tracked collection has its content");
    this.delta = changesIn(base, store);
    if (this.delta.length === 0) {
      toRoot(base);
      return base;
    }
    this.base = null;
    this.baseId = base.id;
    this.size = store.size;
    this.first = store.first;
    return this;
  }
}

/** Makes the store hold the content of this version. */
export function toRoot(version: Version): void {
  if (version.store !== null) return;
  const way: Version[] = [];
  for (let at = version; at.next !== null; at = at.next) way.push(at);
  for (const to of way.reverse()) {
    const { next: root, steps } = to;
    const store = root?.store ?? null;
    invariant(root !== null && store !== null, "every version has a way to the content");
    const back: UndoStep[] = [];
    for (let i = steps.length - 1; i >= 0; i--) back.push(store.undo(steps[i] as UndoStep));
    to.store = store;
    to.next = null;
    to.steps = NO_STEPS;
    root.store = null;
    root.next = to;
    root.steps = back;
  }
}

/** Where the content is, of whichever version it is at the moment. */
export function storeOf(version: Version): Store {
  let at = version;
  while (at.next !== null) at = at.next;
  invariant(at.store, "every version has a way to the content");
  return at.store;
}

/** What the steps from `base` to the root come to, without what was taken back. */
function changesIn(base: Version, store: Store): EntryChange[] {
  const before = firstSteps(base.steps, new Map());
  const changes: EntryChange[] = [];
  let onlyMoved = true;
  for (const [key, step] of before) {
    const had = step.kind !== "add";
    const now = store.find(key);
    if (now === undefined) {
      if (!had) continue;
      onlyMoved = false;
      changes.push({ key, sequence: sequenceOf(step.at), value: undefined, deleted: true });
    } else {
      const sequence = sequenceOf(now.at);
      const isSame = had && isSameKept(now.value, step.value);
      if (isSame && sequence === sequenceOf(step.at)) continue;
      onlyMoved &&= isSame;
      changes.push({ key, sequence, value: now.value, deleted: false });
    }
  }
  const mayBeSame = changes.length > 0 && (onlyMoved || base.kind === "list");
  return mayBeSame && store.isAsBefore(before, base.size, base.first) ? [] : changes;
}

function firstSteps(steps: readonly UndoStep[], into: Map<TrackedKey, UndoStep>): Map<TrackedKey, UndoStep> {
  for (const step of steps) {
    const key = keyOf(step.at);
    if (!into.has(key)) into.set(key, step);
  }
  return into;
}

/** What stands in a version under a key. Does not move the root, where others may be at work. */
export function find(version: Version, key: TrackedKey): Found | undefined {
  if (version.store !== null) return version.store.find(key);
  const last = lookAhead(version);
  const known = version.differences?.get(key);
  if (known !== undefined) return known.kind === "add" ? undefined : known;
  for (const step of last.steps) {
    if (isSameKey(keyOf(step.at), key)) return step.kind === "add" ? undefined : step;
  }
  return storeBehind(last).find(key);
}

/** All that a version holds, in order. */
export function all(version: Version): Iterable<Found> {
  if (version.store !== null) return version.store.all();
  const last = lookAhead(version);
  const differences = firstSteps(last.steps, new Map(version.differences));
  const found: Found[] = [];
  for (const item of storeBehind(last).all()) if (!differences.has(keyOf(item.at))) found.push(item);
  for (const step of differences.values()) if (step.kind !== "add") found.push(step);
  return found.sort((a, b) => sequenceOf(a.at) - sequenceOf(b.at));
}

/**
 * Learns how a version differs from the frozen ones on its way to the root, and returns the last of them. Each is
 * looked at once. That stays true when the root moves: frozen versions do not change, whichever way leads on from them.
 */
function lookAhead(version: Version): Version {
  let at = version.sameBeyond;
  while (at.next !== null && !at.next.isOpen) {
    version.differences = firstSteps(at.steps, version.differences ?? new Map());
    at = at.next;
  }
  version.sameBeyond = at;
  return at;
}

/** The root, if nothing but an open version can be in between. */
function storeBehind(last: Version): Store {
  const store = last.store ?? last.next?.store;
  invariant(store, "an open version that others lead to has the content");
  return store;
}
