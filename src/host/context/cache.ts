import type { State } from "../../state/fields.js";
import type { Slot } from "./slot.js";

/** Where contexts are that are not in memory, and which are. */
export interface Keeper {
  readonly cache: Pick<Cache, "generation" | "add">;
  /** The state that is kept of a context; null if there is none. */
  load(slot: Slot): State | null;
  /** How a context that has got a name is held on to. */
  hold<S extends Slot>(slot: S, among: Names, name: string | number): S | WeakRef<S>;
}

type Names = Map<string | number, unknown>;

/** So many go with each that comes: they have gone long before the next generation is full, and no caller waits for all. */
const EVICTED_AT_ONCE = 2;

/**
 * The contexts that are kept in memory although no event is in them, because they were used lately: the present
 * generation of them and the one before. When the present one is full, what is left of the one before is evicted, little
 * by little, to be loaded from the journal when it is used again.
 */
export class Cache {
  readonly #max: number;
  readonly #evict: (slot: Slot) => boolean;
  #young = new Set<Slot>();
  #old = new Set<Slot>();
  #leaving = new Set<Slot>();
  #generation = 1;

  constructor(max: number, evict: (slot: Slot) => boolean = (slot) => slot.evict()) {
    this.#max = Math.max(1, Math.floor(max / 2));
    this.#evict = evict;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Call it when a context is used whose last use was in another generation. */
  add(slot: Slot): void {
    this.#old.delete(slot);
    this.#leaving.delete(slot);
    this.#young.add(slot);
    if (this.#young.size > this.#max) this.#turn();
    this.#evictSome(EVICTED_AT_ONCE);
  }

  #turn(): void {
    this.#evictSome(this.#leaving.size);
    this.#leaving = this.#old;
    this.#old = this.#young;
    this.#young = new Set();
    this.#generation += 1;
  }

  #evictSome(count: number): void {
    let left = count;
    for (const slot of this.#leaving) {
      if (left === 0) return;
      left -= 1;
      this.#leaving.delete(slot);
      // A context in use comes back by itself when it is used again, or is looked at in the next turn.
      if (!this.#evict(slot)) this.#old.add(slot);
    }
  }
}

/** So many contexts that do not exist stay in the memory of a program without a journal. */
const UNMADE_MAX = 10_000;

/** Contexts without a journal that have been named and do not exist: strangers can ask for as many names as they like. */
export class Unmade extends Cache {
  constructor(max = UNMADE_MAX) {
    super(max, (slot) => slot.evictUnmade());
  }
}

/** Takes names out of their tables when the contexts that had them are gone. */
const names = new FinalizationRegistry<() => void>((remove) => remove());

/** A hold that lasts as long as something else holds the context too: an event, a caller, or the cache. */
export function weakly<S extends Slot>(slot: S, among: Names, name: string | number): WeakRef<S> {
  const ref = new WeakRef(slot);
  names.register(slot, () => {
    if (among.get(name) === ref) among.delete(name);
  });
  return ref;
}
