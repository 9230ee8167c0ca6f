import type { ContextClass } from "./context.js";

type AnyMethod = (...args: never[]) => unknown;

/** A standard decorator gets the method; one of TypeScript's older kind its class, name and descriptor. */
type Decorated =
  | [method: AnyMethod, context?: unknown]
  | [prototype: object, name: string | symbol, descriptor: { readonly value?: unknown }];

interface Mark {
  readonly: boolean;
  reads: readonly ContextClass[];
}

const marks = new WeakMap<AnyMethod, Mark>();

export function markOf(method: AnyMethod): Readonly<Mark> {
  return marks.get(method) ?? { readonly: false, reads: [] };
}

function methodOf([first, , descriptor]: Decorated): AnyMethod {
  return (typeof first === "function" ? first : descriptor?.value) as AnyMethod;
}

function mark(method: AnyMethod, change: Partial<Mark>): void {
  marks.set(method, { ...markOf(method), ...change });
}

/**
 * Marks a method that changes nothing: events that start with one run side by side.
 * As a decorator, `@readonly count() {…}`; in plain JavaScript, `readonly(Room.prototype.count)`.
 */
export function readonly(...decorated: Decorated): void {
  mark(methodOf(decorated), { readonly: true });
}

/**
 * Declares that an event which starts with this method may read the state of these contexts above it, as of
 * its ticket, with `this.event.read(Class)` (the companion paper's `reads Global`).
 */
export function reads(...classes: readonly ContextClass[]) {
  return (...decorated: Decorated): void => {
    const method = methodOf(decorated);
    mark(method, { reads: [...markOf(method).reads, ...classes] });
  };
}
