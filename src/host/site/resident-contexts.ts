import { type Keeper, type Slot, weakly } from "../context/index.js";

/**
 * The contexts in the memory of a host whose program has a journal. The head brings them and says when they are to go;
 * of the others there are names, as long as they are needed.
 */
export class ResidentContexts implements Keeper {
  readonly #slots = new Set<Slot>();
  readonly cache = { generation: 1, add: (slot: Slot) => void this.#slots.add(slot) };
  readonly hold = weakly;

  /** What the journal has, the head sends. */
  load(): null {
    return null;
  }

  evict(slot: Slot): void {
    this.#slots.delete(slot);
  }
}
