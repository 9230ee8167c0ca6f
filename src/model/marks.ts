import type { ContextClass } from "./context.js";

type AnyMethod = (...args: never[]) => unknown;
type LegacyDescriptor = TypedPropertyDescriptor<AnyMethod>;

interface Mark {
  readonly: boolean;
  reads: readonly ContextClass[];
}

const marks = new WeakMap<AnyMethod, Mark>();

export function markOf(method: AnyMethod): Readonly<Mark> {
  return marks.get(method) ?? { readonly: false, reads: [] };
}

/** Standard decorators hand over the method itself; the older TypeScript ones its descriptor. */
function methodOf(args: readonly unknown[]): AnyMethod {
  const [first, , third] = args;
  return (typeof first === "function" ? first : (third as LegacyDescriptor).value) as AnyMethod;
}

function mark(method: AnyMethod, change: Partial<Mark>): void {
  marks.set(method, { ...markOf(method), ...change });
}

/**
 * Marks a method that changes nothing: events that start with one run side by side.
 * As a decorator, `@readonly count() {…}`; in plain JavaScript, `readonly(Room.prototype.count)`.
 */
export function readonly(
  ...args: [method: AnyMethod, ...rest: unknown[]] | [object, string | symbol, LegacyDescriptor]
): void {
  mark(methodOf(args), { readonly: true });
}

/**
 * Declares that an event which starts with this method may read the state of these contexts above it, as of
 * its ticket, with `this.event.read(Class)` (the companion paper's `reads Global`).
 */
export function reads(...classes: readonly ContextClass[]) {
  return (
    ...args: [method: AnyMethod, ...rest: unknown[]] | [object, string | symbol, LegacyDescriptor]
  ): void => {
    const method = methodOf(args);
    mark(method, { reads: [...markOf(method).reads, ...classes] });
  };
}
