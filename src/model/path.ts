import { invariant } from "../errors.js";
import type { Address } from "./address.js";
import type { TimerId } from "./event.js";
import { isWellFormed, type Key, showKey } from "./key.js";
import { noSuchMethod } from "./refs.js";
import type { ChildSlot } from "./shape.js";

/** One step down the tree: `rooms(1)` is `{ field: "rooms", key: 1 }`, `hallway` is `{ field: "hallway" }`. */
export interface Step {
  readonly field: string;
  readonly key?: Key;
  /** The key as JSON instead, if it has half of a surrogate pair: paths travel as UTF-8, which has no word for that. */
  readonly json?: string;
}

/** The way from a root to a context. */
export type Path = readonly Step[];

/** The steps that lead from the root of a logical node to an address: its name as plain data. */
export function pathOf(address: Address): readonly Step[] {
  if (address.parent === null) return ROOT;
  address.path ??= [...pathOf(address.parent), stepOf(address)];
  return address.path;
}

const ROOT: readonly Step[] = [];

function stepOf({ slot, key }: Address): Step {
  invariant(slot !== null, "an address below a root has a place in its parent");
  const { field } = slot;
  if (key === undefined) return { field };
  const parts = typeof key === "object" ? key : [key];
  const isSayable = parts.every((part) => typeof part === "number" || isWellFormed(part));
  return isSayable ? { field, key } : { field, json: JSON.stringify(key) };
}

/** The key of a step, however it is written. */
export function keyOf({ key, json }: Step): Key | undefined {
  return json === undefined ? key : (JSON.parse(json) as Key);
}

/** The address that a path leads to. */
export function resolvePath<A extends Address>(root: A, path: readonly Step[]): A {
  let at = root;
  for (const step of path) {
    const { field } = step;
    const key = keyOf(step);
    const slot = slotNamed(at.shape.slots, field);
    if (slot === undefined || slot.single !== (key === undefined))
      throw noSuchMethod(at.shape, field, String(at));
    at = at.child(slot, key);
  }
  return at;
}

function slotNamed(slots: readonly ChildSlot[], field: string): ChildSlot | undefined {
  for (let i = 0; i < slots.length; i++) if (slots[i]?.field === field) return slots[i];
  return undefined;
}

/** A path as one would write it after the root: `.buildings(1).hallway`. */
export function showPath(path: readonly Step[]): string {
  const shown = path.map((step) => {
    const key = keyOf(step);
    return `.${step.field}${key === undefined ? "" : `(${showKey(key)})`}`;
  });
  return shown.join("");
}

/**
 * The name of a timer: which event set it, where in that event, and in which context, as `node:ticket:2.1@.rooms(1)`.
 * Each method of an event numbers the calls and the timers that it asks for, 1, 2, 3…, refused ones included; 2.1 is
 * the first that was asked for in the second call of the event's first method. So the name does not depend on how
 * parallel calls were interleaved, and whether a context set it can be told from the name alone.
 */
export function timerId(address: Address, ticket: number, positions: readonly number[]): TimerId {
  return `${address.node}:${ticket}:${positions.join(".")}@${showPath(pathOf(address))}`;
}

/** The part of a timer's name that its node's timers differ in: which event set it, and where in that event. */
export function askedAt(node: string, timer: TimerId): string {
  return timer.slice(node.length + 1, timer.indexOf("@", node.length));
}

/** The ticket of the event that set a timer. */
export function ticketIn(node: string, timer: TimerId): number {
  return Number.parseInt(askedAt(node, timer), 10);
}

/** The name of the timer of a context of which `askedAt` is this. */
export function timerAt(address: Address, asked: string): TimerId {
  return `${address.node}:${asked}@${showPath(pathOf(address))}`;
}

/** Was this timer set by this context? */
export function isTimerOf(address: Address, timer: unknown): timer is TimerId {
  if (typeof timer !== "string" || !timer.startsWith(`${address.node}:`)) return false;
  const at = timer.indexOf("@", address.node.length);
  return at >= 0 && timer.slice(at + 1) === showPath(pathOf(address));
}
