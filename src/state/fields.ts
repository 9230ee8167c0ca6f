import type { Address } from "../model/address.js";
import { Context } from "../model/context.js";
import type { TimerId } from "../model/event.js";
import type { Key } from "../model/key.js";
import { same } from "./same.js";
import { hasSharing } from "./sharing.js";
import { copy, isSimple } from "./values.js";

/**
 * The state of one context at one moment: the values of its fields, in the order of its shape, never changed
 * after it was made. An event that changes fields makes a new state and leaves the old one as it is, so undo is
 * going back to the old one, and a snapshot is holding on to one.
 */
export type State = readonly unknown[];

/** The timers that a context has armed are part of its state: the last item, after its fields. */
export type Armed = readonly TimerId[];

const NONE_ARMED: Armed = [];

export function armedIn(address: Address, state: State): Armed {
  return (state[address.shape.fields.length] as Armed | undefined) ?? NONE_ARMED;
}

type Fields = Record<string, unknown>;

/** The state that a context starts with: its field initialisers. */
export function initialState(address: Address): State {
  const instance = Context.construct(address) as unknown as Fields;
  return address.shape.fields.map((field) => copy(instance[field], () => `${address}.${field}`));
}

/** A fresh instance that holds a state, for an event to run in. */
export function instantiate(address: Address, state: State): Context<Key> {
  const instance = Context.construct(address);
  const { fields } = address.shape;
  for (let i = 0; i < fields.length; i++) {
    const value = state[i];
    (instance as unknown as Fields)[fields[i] as string] =
      typeof value === "object" && value !== null ? copy(value, () => fields[i] as string) : value;
  }
  return instance;
}

/**
 * May the next event use this instance as if it had been made from the state? Not if somebody kept hold of it and
 * changed it outside any event, and not if its fields share objects.
 */
export function holds(instance: Context<Key>, address: Address, state: State): boolean {
  const { fields } = address.shape;
  let objects: unknown[] | null = null;
  for (let i = 0; i < fields.length; i++) {
    const live = (instance as unknown as Fields)[fields[i] as string];
    if (typeof live === "object" ? !same(live, state[i]) : !Object.is(live, state[i])) return false;
    if (typeof live === "object" && live !== null) (objects ??= []).push(live);
  }
  return objects === null || !hasSharing(objects);
}

/** The state that an instance holds now: the one it was given if nothing changed, else a new one. */
export function stateOf(instance: Context<Key>, address: Address, before: State, armed: Armed | null): State {
  const { fields } = address.shape;
  let after: unknown[] | null = null;
  if (armed !== null) {
    after = before.slice();
    after[fields.length] = armed;
  }
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as string;
    const live = (instance as unknown as Fields)[field];
    const kept = before[i];
    if (typeof live === "object" ? same(live, kept) : Object.is(live, kept)) continue;
    after ??= before.slice();
    after[i] = isSimple(live) ? live : copyField(live, address, field);
  }
  return after ?? before;
}

function copyField(value: unknown, address: Address, field: string): unknown {
  return copy(value, () => `${address}.${field}`);
}

/** The fields in which two states of a context differ. */
export function changedFields(address: Address, before: State, after: State): string[] {
  return address.shape.fields.filter((_, i) => !same(after[i], before[i]));
}

/** A state to look at: an object with the fields of the context, apart from everybody else's. */
export function viewOf(address: Address, state: State): object {
  const view: Fields = address.key === undefined ? {} : { key: address.key };
  for (const [i, field] of address.shape.fields.entries()) view[field] = copy(state[i], () => field);
  return Object.freeze(view);
}
