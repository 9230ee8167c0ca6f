import type { Address } from "../model/address.js";
import { Context } from "../model/context.js";
import type { Key } from "../model/key.js";
import { wasWrittenLate } from "./late-writes.js";
import { isStillSame, same } from "./same.js";
import { isSameContent } from "./tracked-content.js";
import { attached, firstVersion, fitted, isStill, replaced, shown, versionNow } from "./tracked-fields.js";
import { hintAtSize } from "./tracked-hint.js";
import { Live } from "./tracked-live.js";
import { LiveMap } from "./tracked-map.js";
import { Version } from "./tracked-version.js";
import { copyKept, copyToKeep, isSimple } from "./values.js";

/**
 * The state of one context at one moment: the values of its fields, in the order of its shape, never changed
 * after it was made. An event that changes fields makes a new state and leaves the old one as it is, so undo is
 * going back to the old one, and a snapshot is holding on to one. The value of a tracked collection is a version of it.
 */
export type State = readonly unknown[];

const TIMERS = "(timers)";

/**
 * The timers that a context has armed are part of its state: the last item, after its fields, is a version of a map that
 * says when each is due; there is none as long as the context has not armed any. This is that map, for an event to change.
 */
export function armedIn(address: Address, state: State): LiveMap {
  const armed = new LiveMap([]);
  const version = state[address.shape.fields.length];
  if (version instanceof Version) armed.attach(version, armed, address, TIMERS);
  return armed;
}

type Fields = Record<string, unknown>;

/** The state that a context starts with, and that it has again when it was deleted: its field initialisers. */
export function initialState(address: Address): State {
  const instance = Context.construct(address) as unknown as Fields;
  const state: Unmade = address.shape.fields.map((field) => {
    const value = instance[field];
    return value instanceof Live
      ? firstVersion(value, instance, address, field)
      : copyField(value, address, field);
  });
  return Object.defineProperty(state, "isUnmade", { value: true });
}

type Unmade = unknown[] & { readonly isUnmade?: true };

/** Is it a state that no event has changed? Such a context does not exist: there is nothing of it to keep or to list. */
export function isUnmade(state: State): boolean {
  return (state as Unmade).isUnmade === true;
}

/** A state that was written by an earlier run, with its tracked collections as the class declares them now. */
export function fittedState(address: Address, values: State): State {
  const instance = Context.construct(address) as unknown as Fields;
  const { fields } = address.shape;
  return values.map((value, i) => {
    const field = fields[i];
    return field === undefined ? value : fitted(value, instance[field], address, field);
  });
}

/** A fresh instance that holds a state, for an event to run in. */
export function instantiate(address: Address, state: State): Context<Key> {
  const instance = Context.construct(address);
  const { fields } = address.shape;
  for (let i = 0; i < fields.length; i++) {
    const value = state[i];
    (instance as unknown as Fields)[fields[i] as string] =
      typeof value === "object" && value !== null
        ? live(value, instance, address, fields[i] as string)
        : value;
  }
  return instance;
}

function live(value: object, instance: Context<Key>, address: Address, field: string): unknown {
  if (!(value instanceof Version)) return copyKept(value);
  return attached((instance as unknown as Fields)[field], value, instance, address, field);
}

/**
 * Makes an instance that an event has left what `instantiate` would make, without making it. What is in its fields is not
 * used again: a value can be the same as its copy in the state and behave otherwise (it may be frozen, share objects with
 * another, have a getter, be a proxy), and copying the copy is faster than finding that out. A simple value that is not the
 * one that the event had left was assigned later. False if it cannot be done.
 */
export function refill(instance: Context<Key>, address: Address, state: State): boolean {
  const { fields } = address.shape;
  try {
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as string;
      const value = state[i];
      if (typeof value !== "object" || value === null) {
        if (Object.is((instance as unknown as Fields)[field], value)) continue;
        wasWrittenLate(address, field);
        (instance as unknown as Fields)[field] = value;
      } else if (value instanceof Version) {
        const live = (instance as unknown as Fields)[field];
        if (!(live instanceof Live && isStill(live, value, instance, field))) return false;
      } else {
        (instance as unknown as Fields)[field] = copyKept(value);
      }
    }
    return true;
  } catch {
    return false; // an event has frozen it
  }
}

/** The state that an instance holds now: the one it was given if nothing changed, else a new one. */
export function stateOf(
  instance: Context<Key>,
  address: Address,
  before: State,
  armed: LiveMap | null,
): State {
  const { fields } = address.shape;
  let after: unknown[] | null = null;
  if (armed !== null) {
    const timers = armedNow(armed, before[fields.length], address);
    if (timers !== before[fields.length]) {
      after = before.slice();
      after[fields.length] = timers;
    }
  }
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as string;
    const live = (instance as unknown as Fields)[field];
    const kept = before[i];
    if (typeof live === "object" ? isStillSame(live, kept) : Object.is(live, kept)) continue;
    let now = live;
    if (!isSimple(live) || kept instanceof Version) {
      now = valueNow(live, kept, instance, address, field);
      if (now === kept) continue;
    }
    if (after === null && isUnmade(before) && isEqual(kept, now)) continue; // only a real change makes it exist
    after ??= before.slice();
    after[i] = now;
  }
  return after ?? before;
}

function armedNow(armed: LiveMap, before: unknown, address: Address): unknown {
  if (before instanceof Version) return versionNow(armed, before, armed, address, TIMERS);
  const version = armed.freeze();
  return version.size === 0 ? before : version;
}

function isEqual(kept: unknown, now: unknown): boolean {
  if (kept instanceof Version && now instanceof Version) return isSameContent(kept, now);
  return same(now, kept);
}

/** The value of a field that is no longer the very same as before, and not a simple one. */
function valueNow(
  value: unknown,
  kept: unknown,
  instance: Context<Key>,
  address: Address,
  field: string,
): unknown {
  if (kept instanceof Version) {
    if (!(value instanceof Live)) throw replaced(address, field, "something else was assigned to it");
    return versionNow(value, kept, instance, address, field);
  }
  return copyField(value, address, field);
}

function copyField(value: unknown, address: Address, field: string): unknown {
  if (typeof value === "object") hintAtSize(value, address, field);
  return copyToKeep(value, () => `${address}.${field}`);
}

/** The fields in which two states of a context differ. */
export function changedFields(address: Address, before: State, after: State): string[] {
  return address.shape.fields.filter((_, i) => !isEqual(before[i], after[i]));
}

/** Are all fields and armed timers in two states of a context the same? */
export function isSameState({ shape }: Address, before: State, after: State): boolean {
  const { length } = shape.fields;
  for (let i = 0; i < length; i++) if (!isEqual(before[i], after[i])) return false;
  return isEqual(timersOrNone(before[length]), timersOrNone(after[length]));
}

/** When the last timer is disarmed, there is as little to keep as before the first. */
function timersOrNone(timers: unknown): unknown {
  return timers instanceof Version && timers.size === 0 ? undefined : timers;
}

/** A state to look at: an object with the fields of the context, apart from everybody else's. */
export function viewOf(address: Address, state: State): object {
  const view: Fields = address.key === undefined ? {} : { key: address.key };
  for (const [i, field] of address.shape.fields.entries()) {
    const value = state[i];
    view[field] = value instanceof Version ? shown(value, address, field) : copyKept(value);
  }
  return Object.freeze(view);
}
