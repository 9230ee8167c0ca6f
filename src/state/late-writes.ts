import type { Address } from "../model/address.js";
import type { Context, ContextClass } from "../model/context.js";
import type { Key } from "../model/key.js";
import type { State } from "./fields.js";

const warned = new WeakMap<ContextClass, Set<string>>();

/**
 * Looks whether code that an event has left behind (a timer, a listener, a promise that was not awaited) has changed the
 * instance that the event had used. Only fields with simple values are compared: the others would have to be searched.
 */
export function noticeLateWrites(instance: Context<Key>, address: Address, state: State): void {
  const { fields } = address.shape;
  for (let i = 0; i < fields.length; i++) {
    const kept = state[i];
    if (typeof kept === "object" && kept !== null) continue;
    const field = fields[i] as string;
    if (!Object.is((instance as unknown as Record<string, unknown>)[field], kept))
      wasWrittenLate(address, field);
  }
}

/** Warns once per class and field. */
export function wasWrittenLate(address: Address, field: string): void {
  const { cls, name } = address.shape;
  const known = warned.get(cls) ?? new Set();
  if (known.has(field)) return;
  warned.set(cls, known.add(field));
  process.emitWarning(
    `this.${field} of ${address} was assigned to by code that an event of ${name} had left behind: the event had ended, so the ` +
      "change is lost. Look for a timer, a listener or a promise without `await` in its methods, and use " +
      "`this.event.after` or `this.event.start` instead.",
    { type: "HeadwaterLateWrite", code: "HW-1027" },
  );
}
