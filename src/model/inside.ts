import type { Address } from "./address.js";

interface Named {
  readonly name: string;
}

/** In which method of which context an error came up. */
export interface Where {
  readonly address: Address | null;
  readonly method: Named | null;
}

/**
 * Errors that the runtime has given to code of a context. An unhandled rejection with one of them comes from
 * there, also if the event is over: the promise of an async function does not tell who has made it.
 */
const inside = new WeakMap<object, Where>();

/** Errors that have left their events. Their callers have them, and may handle them or not. */
const handedOut = new WeakSet<object>();

function isObject(error: unknown): error is object {
  return typeof error === "object" && error !== null;
}

export function givenInside(error: unknown, address: Address | null, method: Named | null): void {
  if (isObject(error) && !inside.has(error)) inside.set(error, { address, method });
}

export function givenOutside(error: unknown): unknown {
  if (isObject(error)) handedOut.add(error);
  return error;
}

/** Where the code is that was given this error, if that is known to be a context's. */
export function whereGiven(error: unknown): Where | null {
  return isObject(error) && !handedOut.has(error) ? (inside.get(error) ?? null) : null;
}

export function wasHandedOut(error: unknown): boolean {
  return isObject(error) && handedOut.has(error);
}
