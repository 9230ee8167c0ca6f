import type { Slot } from "./slot.js";

/**
 * The contexts that are kept in memory although no event is in them, because they were used lately: the present
 * generation of them and the one before. When the present one is full, what is left of the one before is let go, to be
 * loaded from the journal when it is used again.
 */
export class Cache {
  readonly #max: number;
  #young = new Set<Slot>();
  #old = new Set<Slot>();
  #generation = 1;

  constructor(max: number) {
    this.#max = Math.max(1, Math.floor(max / 2));
  }

  get generation(): number {
    return this.#generation;
  }

  /** Call it when a context is used whose last use was in another generation. */
  add(slot: Slot): void {
    this.#old.delete(slot);
    this.#young.add(slot);
    if (this.#young.size > this.#max) this.#turn();
  }

  #turn(): void {
    const leaving = this.#old;
    this.#old = this.#young;
    this.#young = new Set();
    this.#generation += 1;
    // Whoever is in use comes back by itself when it is used again, or is looked at in the next turn.
    for (const slot of leaving) if (!slot.letGo()) this.#old.add(slot);
  }
}

/** Takes names out of their tables when the contexts that had them are gone. */
const names = new FinalizationRegistry<() => void>((remove) => remove());

/** A hold that lasts as long as somebody else holds the context too: an event, a caller, or the cache. */
export function weakly<S extends Slot>(
  slot: S,
  among: Map<string | number, unknown>,
  name: string | number,
): WeakRef<S> {
  const ref = new WeakRef(slot);
  names.register(slot, () => {
    if (among.get(name) === ref) among.delete(name);
  });
  return ref;
}
