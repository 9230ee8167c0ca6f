import type { Slot } from "../context/index.js";
import type { EnteredContext } from "./entered-context.js";

/** Looking through so few takes no longer than a look into a map, which is larger than all of them together. */
const LOOKED_THROUGH_MAX = 16;

/** Finds the contexts that a try of an event has entered, if those are more than one. They are chained through themselves. */
export class EnteredContexts {
  #last: EnteredContext;
  #count = 1;
  #bySlot: Map<Slot, EnteredContext> | null = null;

  constructor(readonly first: EnteredContext) {
    this.#last = first;
  }

  add(entry: EnteredContext): void {
    this.#last.next = entry;
    this.#last = entry;
    this.#count += 1;
    if (this.#bySlot !== null) this.#bySlot.set(entry.slot, entry);
    else if (this.#count > LOOKED_THROUGH_MAX)
      this.#bySlot = new Map(allFrom(this.first).map((each) => [each.slot, each]));
  }

  get(slot: Slot): EnteredContext | null {
    if (this.#bySlot !== null) return this.#bySlot.get(slot) ?? null;
    let at: EnteredContext | null = this.first;
    while (at !== null && at.slot !== slot) at = at.next;
    return at;
  }
}

/** An entered context, and all that were entered after it. */
export function allFrom(first: EnteredContext | null): EnteredContext[] {
  const all: EnteredContext[] = [];
  for (let at = first; at !== null; at = at.next) all.push(at);
  return all;
}
