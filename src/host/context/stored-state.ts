import type { Journal, KeyTable, Write } from "../../journal/journal.js";
import type { TrackedKind } from "../../model/collections.js";
import { pathOf } from "../../model/path.js";
import type { Shape } from "../../model/shape.js";
import { decode, encode } from "../../state/codec.js";
import { unreadable } from "../../state/codec-check.js";
import { fittedState, isUnmade, type State } from "../../state/fields.js";
import { same } from "../../state/same.js";
import {
  type Content,
  changesBetween,
  entriesOf,
  keptEntriesOf,
  versionFrom,
} from "../../state/tracked-content.js";
import { Version } from "../../state/tracked-version.js";
import { upgraded, valuesByName } from "./class-fields.js";
import { versionOf } from "./class-versions.js";
import type { Slot } from "./slot.js";
import {
  encodedIfLong,
  Form,
  isApart,
  keepApart,
  keyOfEntry,
  type Main,
  readEntry,
  readMain,
  shownEntry,
  writtenEntry,
} from "./stored-form.js";
import {
  contextName,
  entryKey,
  fieldPrefix,
  longKeys,
  mainKey,
  partsPrefix,
  prefixIn,
  timersPrefix,
} from "./stored-keys.js";

/** Where and how a journal has one context. Made once for each. */
export class StoredContext {
  readonly name: string;
  readonly key: string;
  readonly form: Form;
  /** Has the journal anything of it? Only where all events run on one host: states are never taken back in a journal. */
  isThere = false;
  readonly #fields: readonly string[];
  readonly #slot: Slot;
  readonly #prefixes: (string | undefined)[] = [];

  constructor(slot: Slot) {
    this.name = contextName(slot);
    this.key = mainKey(this.name);
    this.form = formOf(slot.shape);
    this.#fields = slot.shape.fields;
    this.#slot = slot;
  }

  /** What says where it is, if its name is too long to be found under the contexts above. */
  *longWrites(): Iterable<Write & { value: Uint8Array }> {
    for (const key of longKeys(this.#slot, this.name)) yield { key, value: encode(pathOf(this.#slot)) };
  }

  /** What the keys of a field's entries begin with, and the key of a large plain field; behind the fields, of timers. */
  prefix(index: number): string {
    this.#prefixes[index] ??= prefixOf(this.name, this.#fields[index]);
    return this.#prefixes[index];
  }
}

/** What the keys of a field, or of the timers, begin with. */
export function prefixOf(name: string, field: string | undefined): string {
  return field === undefined ? timersPrefix(name) : fieldPrefix(name, field);
}

const forms = new WeakMap<Shape, Form>();

function formOf(shape: Shape): Form {
  let form = forms.get(shape);
  if (form === undefined) {
    form = new Form(shape);
    forms.set(shape, form);
  }
  return form;
}

/**
 * States that were loaded and are not what the journal has: they were upgraded, or a field is tracked that was not
 * before, or the other way round. With each, the keys of its own that its context has in the journal. The first write
 * after that writes all.
 */
const converted = new WeakMap<State, Map<string, Uint8Array>>();

/** The writes that turn what the journal has of a context (`before`; null: nothing) into `after`: nothing, if it is deleted. */
export function stateWrites(slot: Slot, before: State | null, after: State, writes: Write[]): void {
  const context = slot.stored;
  if (isUnmade(after)) {
    if (before !== null) removalWrites(slot, before, writes);
    return;
  }
  if (before === null) {
    for (const write of allOf(context, after)) writes.push(write);
    return;
  }
  const old = converted.get(before);
  if (old !== undefined) return replaceAll(context, after, old, writes);
  const { length } = slot.shape.fields;
  let isMainChanged = false;
  const last = Math.max(before.length, after.length);
  for (let i = 0; i < last; i++) {
    const [kept, value] = [before[i], after[i]];
    if (Object.is(kept, value)) continue;
    if (kept instanceof Version && value instanceof Version)
      entryWrites(context.prefix(i), kept, value, writes);
    else if (i === length) {
      isMainChanged = true;
      timerWrites(context.prefix(i), kept, value, writes);
    } else if (plainWrites(context, i, kept, value, writes)) isMainChanged = true;
  }
  if (isMainChanged) writes.push({ key: context.key, value: context.form.main(after) });
}

/** The first timers of a context, or, where those were taken back, none again. */
function timerWrites(prefix: string, kept: unknown, value: unknown, writes: Write[]): void {
  if (kept instanceof Version)
    for (const { key } of entriesOf(kept)) writes.push({ key: entryKey(prefix, key), value: null });
  if (value instanceof Version)
    for (const entry of entriesOf(value)) writes.push(writtenEntry(value.kind, prefix, entry));
}

/**
 * Everything there is of a context, as a journal would have it, the main value first. Tracked collections may change
 * while it is read; entries are encoded one by one, and the bytes of one are there until the next is asked for.
 */
export function* copiedWrites(slot: Slot, state: State): Generator<Write> {
  const context = slot.stored;
  const plain: Write[] = [];
  const tracked: [prefix: string, kind: TrackedKind, entries: readonly Content[]][] = [];
  for (let i = 0; i < state.length; i++) {
    const value = state[i];
    if (value instanceof Version) {
      tracked.push([context.prefix(i), value.kind, [...keptEntriesOf(value)]]);
      continue;
    }
    const bytes = encodedIfLong(value);
    if (bytes !== null && isApart(value)) plain.push({ key: context.prefix(i), value: bytes });
    else context.form.keepReady(i, value, bytes);
  }
  yield { key: context.key, value: context.form.main(state) };
  yield* plain;
  for (const [prefix, kind, entries] of tracked) {
    for (const entry of entries) yield shownEntry(kind, prefix, entry);
  }
}

/** Writes a plain field that is apart, or was. Is the main value another one? */
function plainWrites(
  context: StoredContext,
  i: number,
  kept: unknown,
  value: unknown,
  writes: Write[],
): boolean {
  const bytes = encodedIfLong(value);
  const wasApart = isApart(kept);
  if (bytes !== null && isApart(value)) {
    writes.push({ key: context.prefix(i), value: bytes });
    return !wasApart;
  }
  context.form.keepReady(i, value, bytes);
  if (wasApart) writes.push({ key: context.prefix(i), value: null });
  return true;
}

function entryWrites(prefix: string, older: Version, newer: Version, writes: Write[]): void {
  const { kind } = newer;
  const { isWhole, changes } = changesBetween(older, newer);
  if (!isWhole) {
    for (const change of changes) {
      if (change.deleted) writes.push({ key: keyOfEntry(kind, prefix, change.key), value: null });
      else writes.push(writtenEntry(kind, prefix, change));
    }
    return;
  }
  // The versions have no common history, so all of both is looked at.
  const gone = new Map<unknown, Content>();
  for (const entry of entriesOf(older)) gone.set(entry.key, entry);
  for (const entry of changes) {
    const then = gone.get(entry.key);
    gone.delete(entry.key);
    if (then === undefined || then.sequence !== entry.sequence || !same(then.value, entry.value))
      writes.push(writtenEntry(kind, prefix, entry));
  }
  for (const { key } of gone.values()) writes.push({ key: keyOfEntry(kind, prefix, key), value: null });
}

/** All keys and values of a state. */
function* allOf(context: StoredContext, state: State): Generator<Write & { value: Uint8Array }> {
  for (let i = 0; i < state.length; i++) {
    const value = state[i];
    if (value instanceof Version) {
      for (const entry of entriesOf(value)) yield writtenEntry(value.kind, context.prefix(i), entry);
    } else {
      const bytes = encodedIfLong(value);
      if (bytes !== null && isApart(value)) yield { key: context.prefix(i), value: bytes };
      else context.form.keepReady(i, value, bytes);
    }
  }
  yield { key: context.key, value: context.form.main(state) };
  yield* context.longWrites();
}

/** The writes that leave nothing in the journal of a context that it has in this state. */
function removalWrites(slot: Slot, before: State, writes: Write[]): void {
  const keys = new Set(converted.get(before)?.keys());
  for (const { key } of allOf(slot.stored, before)) keys.add(key);
  for (const key of keys) writes.push({ key, value: null });
}

function replaceAll(
  context: StoredContext,
  state: State,
  old: ReadonlyMap<string, Uint8Array>,
  writes: Write[],
): void {
  const gone = new Set(old.keys());
  for (const write of allOf(context, state)) {
    gone.delete(write.key);
    const then = old.get(write.key);
    if (then === undefined || Buffer.compare(then, write.value) !== 0) writes.push(write);
  }
  for (const key of gone) writes.push({ key, value: null });
}

/** Everything that the journal has of a context, as it is, the main value first; or what is behind one of its keys. */
export function* storedWrites(
  journal: Journal,
  slot: Slot,
  after: string | null = null,
): Generator<{ readonly key: string; readonly value: Uint8Array }> {
  const { key, name } = slot.stored;
  const main = after === null ? journal.get(key) : undefined;
  if (after === null && main === undefined) return;
  if (main !== undefined) yield { key, value: main };
  const behind = after === null || after === key ? undefined : after;
  for (const [part, value] of journal.range(partsPrefix(name), behind)) yield { key: part, value };
}

/** What the journal has of a context; null if nothing. */
export function loadState(journal: KeyTable, slot: Slot): State | null {
  const { key, name } = slot.stored;
  const bytes = journal.get(key);
  if (bytes === undefined) return null;
  const state = stateOf(slot, bytes, () => partsOf(name, new Map(journal.range(partsPrefix(name)))));
  slot.stored.isThere = true;
  return state;
}

/** What a context has under keys of its own. */
export interface StoredParts {
  /** As it is stored. */
  all(): Map<string, Uint8Array>;
  /** A large plain field, if it is there once. */
  plain(prefix: string): Uint8Array | undefined;
  version(kind: TrackedKind, prefix: string): Version;
}

const NO_PARTS = partsOf("", new Map());

export function partsOf(name: string, all: Map<string, Uint8Array>): StoredParts {
  const found = new Map<string, [key: string, bytes: Uint8Array][]>();
  for (const part of all) {
    const prefix = prefixIn(part[0], name);
    const list = found.get(prefix);
    if (list === undefined) found.set(prefix, [part]);
    else list.push(part);
  }
  return {
    all: () => all,
    plain: (prefix) => {
      const list = found.get(prefix);
      return list?.length === 1 ? list[0]?.[1] : undefined;
    },
    version: (kind, prefix) => {
      const entries = found.get(prefix) ?? [];
      return versionFrom(
        kind,
        entries.map(([key, value]) => readEntry(kind, prefix, key, value)),
      );
    },
  };
}

/** The state that a main value and what has keys of its own come to. */
export function stateOf(slot: Slot, bytes: Uint8Array, read: () => StoredParts): State {
  const main = readMain(bytes);
  const parts = main.apart.length === 0 ? NO_PARTS : read();
  if (main.apart.length > 0) readApart(slot.stored.name, main, parts);
  const state = stateFrom(slot, main);
  if (!isAsStored(slot, main, state)) converted.set(state, parts.all());
  return state;
}

/** Puts the fields that have keys of their own among the values. */
function readApart(name: string, { names, values, apart }: Main, parts: StoredParts): void {
  for (const [index, kind] of apart) {
    const field = names[index] ?? "(timers)";
    const prefix = prefixOf(name, names[index]);
    if (kind === "plain") {
      const bytes = parts.plain(prefix);
      if (bytes === undefined) throw unreadable(`the field "${field}" of a context is missing`);
      values[index] = decode(bytes);
      keepApart(values[index]);
    } else {
      values[index] = versionRead(() => parts.version(kind, prefix), field);
    }
  }
}

function versionRead(read: () => Version, field: string): Version {
  try {
    return read();
  } catch {
    throw unreadable(`the field "${field}" of a context has an entry twice, or none where one should be`);
  }
}

/** A whole state as one value, for copies that are kept aside. */
export function encodeState(slot: Slot, state: State): Uint8Array {
  return slot.stored.form.whole(state);
}

/** The state that `encodeState` has made these bytes of, also if the class has changed since. */
export function decodeState(slot: Slot, bytes: Uint8Array): State {
  return stateFrom(slot, readMain(bytes));
}

/** The state that was written, as the class of the context has it now. */
function stateFrom(slot: Slot, main: Main): State {
  const { fields, cls } = slot.shape;
  const isPresent = main.version === versionOf(cls);
  const values = isPresent ? valuesByName(slot, main.names, main.values) : upgraded(slot, main);
  const timers = main.values[main.names.length];
  if (timers !== undefined) values[fields.length] = timers;
  return fittedState(slot, values);
}

/** Is each field where a state like this one would have it? */
function isAsStored(slot: Slot, main: Main, state: State): boolean {
  const { version, names, values, apart, namesTimers } = main;
  if (namesTimers || version !== versionOf(slot.shape.cls)) return false;
  const apartFields = new Set(apart.map(([index]) => names[index]));
  return slot.shape.fields.every((field, i) => {
    const stored = names[i] === field ? values[i] : values[names.indexOf(field)];
    return Object.is(state[i], stored) && isApart(stored) === apartFields.has(field);
  });
}
