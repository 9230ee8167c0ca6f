import type { Slot } from "../context/index.js";
import type { Entry } from "./entry.js";

/** Looking through so few takes no longer than a look into a map, which is larger than all of them together. */
const LOOKED_THROUGH_MAX = 16;

/** Finds the contexts that a try of an event has entered, if those are more than one. They are chained through themselves. */
export class Entries {
  #last: Entry;
  #count = 1;
  #bySlot: Map<Slot, Entry> | null = null;

  constructor(readonly first: Entry) {
    this.#last = first;
  }

  add(entry: Entry): void {
    this.#last.next = entry;
    this.#last = entry;
    this.#count += 1;
    if (this.#bySlot !== null) this.#bySlot.set(entry.slot, entry);
    else if (this.#count > LOOKED_THROUGH_MAX)
      this.#bySlot = new Map(allFrom(this.first).map((each) => [each.slot, each]));
  }

  get(slot: Slot): Entry | null {
    if (this.#bySlot !== null) return this.#bySlot.get(slot) ?? null;
    let at: Entry | null = this.first;
    while (at !== null && at.slot !== slot) at = at.next;
    return at;
  }
}

/** One that was entered, and those that were entered after it. */
export function allFrom(first: Entry | null): Entry[] {
  const all: Entry[] = [];
  for (let at = first; at !== null; at = at.next) all.push(at);
  return all;
}
