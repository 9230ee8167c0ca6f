import { invariant } from "../errors.js";
import type { TrackedKey, TrackedKind } from "../model/collections.js";
import { OwnedStore } from "./owned-store.js";
import { same } from "./same.js";
import { EntryStore } from "./tracked-entries.js";
import { ItemStore } from "./tracked-items.js";
import { checkKey, isSameKept, own, peek } from "./tracked-values.js";
import { all, type EntryChange, find, keyOf, sequenceOf, Version } from "./tracked-version.js";

/** What a journal needs of tracked collections: all that a version holds, what changed, and a version made of that. */

/** One entry of a map, one item of a set (`value` is undefined), one item of a list (`key` is its position). */
export interface Content {
  readonly key: TrackedKey;
  /** The order of entries is the order of these. For an item of a list, its position. */
  readonly sequence: number;
  /** Must not be changed. */
  readonly value: unknown;
}

export interface ContentChanges {
  /** The versions have nothing to do with each other: `changes` are all entries, and nothing else is there. */
  readonly isWhole: boolean;
  readonly changes: readonly EntryChange[];
}

/** All that a version holds, in order, with its values as they are kept: for writers. */
export function* keptEntriesOf(version: Version): Generator<Content, undefined> {
  for (const { at, value } of all(version)) yield { key: keyOf(at), sequence: sequenceOf(at), value };
}

/** All that a version holds, in order. */
export function* entriesOf(version: Version): Generator<Content, undefined> {
  for (const { at, value } of all(version)) {
    yield { key: keyOf(at), sequence: sequenceOf(at), value: peek(value) };
  }
}

/**
 * What is to be written to get from one version to another. If the newer one came from the older one, this looks at
 * nothing but what was changed in between.
 */
export function changesBetween(older: Version, newer: Version): ContentChanges {
  const changes = stepsBetween(older, newer);
  if (changes !== null) return { isWhole: false, changes: changes.map(shown) };
  return { isWhole: true, changes: [...entriesOf(newer)].map((entry) => ({ ...entry, deleted: false })) };
}

function shown(change: EntryChange): EntryChange {
  return { ...change, value: peek(change.value) };
}

/** The changes with values as they are kept, or null if there is no way forward. */
function stepsBetween(older: Version, newer: Version): readonly EntryChange[] | null {
  if (older === newer) return [];
  if (newer.baseId === older.id) return newer.delta;
  const last = new Map<TrackedKey, EntryChange>();
  for (let at = older; at !== newer; ) {
    const { next } = at;
    if (next === null || next.baseId !== at.id) return null;
    for (const change of next.delta) {
      last.delete(change.key);
      last.set(change.key, change);
    }
    at = next;
  }
  return [...last.values()];
}

/** Do two versions hold the same, in the same order? */
export function isSameContent(older: Version, newer: Version): boolean {
  if (older === newer) return true;
  if (older.kind !== newer.kind || older.size !== newer.size) return false;
  const changes = older.first === newer.first ? stepsBetween(older, newer) : null;
  if (changes?.every((change) => isUnchanged(older, change))) return true;
  const [others, items] = [entriesOf(older), entriesOf(newer)];
  for (const { key, value } of items) {
    const other = others.next().value;
    if (other === undefined || (newer.kind !== "list" && !Object.is(key, other.key))) return false;
    if (!same(value, other.value)) return false;
  }
  return true;
}

function isUnchanged(older: Version, { key, sequence, value, deleted }: EntryChange): boolean {
  const then = find(older, key);
  if (then === undefined) return deleted;
  return !deleted && sequenceOf(then.at) === sequence && isSameKept(value, then.value);
}

/** A version that holds this, for example what was loaded from a journal. The values are now its own. */
export function versionFrom(kind: TrackedKind, entries: Iterable<Content>): Version {
  if (kind === "owned") return ownedVersion(entries);
  const sorted = [...entries].sort((a, b) => a.sequence - b.sequence);
  if (kind === "list") return Version.root(kind, listOf(sorted));
  const store = new EntryStore();
  let last = 0;
  for (const { key, sequence, value } of sorted) {
    const checked = checkKey(key, () => `a tracked ${kind} that is loaded`);
    invariant(
      sequence > last && store.find(checked) === undefined,
      "loaded entries have an order and are there once",
    );
    last = sequence;
    store.load(checked, sequence, own(value));
  }
  return Version.root(kind, store);
}

/** The records must be those behind the checkpoint, all of them. */
export function ownedVersion(entries: Iterable<Pick<Content, "key" | "value">>): Version {
  const store = new OwnedStore();
  for (const { key, value } of entries) {
    const isOnce = value instanceof Uint8Array && store.find(key) === undefined;
    invariant(isOnce, "what an owned field holds is bytes, and there once");
    store.load(key, value);
  }
  for (let i = 1; i <= store.records; i++)
    invariant(store.find(store.checkpointPosition + i), "the records of an owned field have no gap");
  return Version.root("owned", store);
}

function listOf(sorted: readonly Content[]): ItemStore {
  const store = new ItemStore();
  for (const { sequence, value } of sorted) store.load(sequence, own(value));
  return store;
}

/** The same made of plain values in order, for a field that was a plain Map, Set or array before. */
export function versionOf(kind: TrackedKind, plain: Iterable<unknown>): Version {
  const entries: Content[] = [];
  for (const item of plain) {
    const [key, value] = kind === "map" ? (item as [TrackedKey, unknown]) : [item as TrackedKey, undefined];
    const sequence = entries.length + 1;
    entries.push(kind === "list" ? { key: sequence, sequence, value: item } : { key, sequence, value });
  }
  return versionFrom(kind, entries);
}
