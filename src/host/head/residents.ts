import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import { Cache, type Slot } from "../context/index.js";
import type { HostId } from "../ports/index.js";
import type { Ledger } from "../store/index.js";
import type { Hosts } from "./hosts.js";
import { loadMessages } from "./load-messages.js";

/**
 * Which contexts of a logical node are in the memory of hosts: the head knows, because no event enters one without it.
 * With a journal they get there when they are used, and the last used ones stay. A context goes when each event that was
 * in it has been appended or undone. As its host has heard that before, nothing of it is needed there any more, and what
 * the journal has is all of it.
 */
export class Residents {
  readonly #hosts: Hosts;
  readonly #ledger: Ledger | null;
  readonly #marks: Marks | undefined;
  readonly #plant: Plant | undefined;
  readonly #cache: Cache | null;

  constructor(hosts: Hosts, ledger: Ledger | null, marks: Marks | undefined, plant: Plant | undefined) {
    this.#hosts = hosts;
    this.#ledger = ledger;
    this.#marks = marks;
    this.#plant = plant;
    this.#cache = ledger === null ? null : new Cache(ledger.contextsInMemory, (slot) => this.#evict(slot));
  }

  /** The host that has a context, which gets its state if it has not got it yet. */
  bring(slot: Slot): HostId {
    this.use(slot);
    const host = this.#hosts.of(slot);
    const life = this.#hosts.life(host);
    if (slot.residence.life === life) return host;
    slot.residence.life = life;
    if (this.#ledger === null) slot.residence.evict ??= () => this.#evictUnmade(slot);
    if (this.#ledger !== null && !slot.shape.anonymous)
      this.#hosts.stream(host, loadMessages(this.#ledger.journal, slot));
    return host;
  }

  /** A context is on a host, and stays for a while. */
  use(slot: Slot): void {
    if (this.#cache !== null && !slot.shape.anonymous) slot.usedIn(this.#cache);
  }

  #evict(slot: Slot): boolean {
    const { residence } = slot;
    if (residence.users === 0) slot.evict();
    else if (this.#plant !== "evict-early") return false;
    this.#evictFromHost(slot);
    return true;
  }

  #evictFromHost(slot: Slot): void {
    const { residence } = slot;
    const host = this.#hosts.of(slot);
    if (residence.life !== 0 && residence.life === this.#hosts.life(host)) {
      this.#marks?.hit("a host evicted a context");
      this.#hosts.send(host, { kind: "evict", slot });
    }
    residence.life = 0; // else its host is gone
  }

  /** Without a journal: neither the context nor anything below it exists, and no event is in it. */
  #evictUnmade(slot: Slot): boolean {
    const { residence } = slot;
    const { placement } = this.#hosts;
    const isForgotten = residence.isDeleted && placement.wasMoved(slot);
    if (isForgotten && hasResidents(slot)) return false; // the places of contexts below depend on this one's
    if (!slot.shape.anonymous) this.#evictFromHost(slot);
    residence.life = 0;
    residence.migrations += 1; // what a migration has copied of it before is not what will be there
    if (isForgotten) placement.forget(slot);
    return true;
  }

  /** Has this life of a host any state? Anonymous contexts have none. */
  areOn(life: number, slot: Slot): boolean {
    if (slot.residence.life === life && !slot.shape.anonymous) return true;
    for (const child of slot.made()) if (this.areOn(life, child)) return true;
    return false;
  }
}

/** Is a context below it in the memory of a host? */
function hasResidents(slot: Slot): boolean {
  for (const child of slot.made()) if (child.residence.life !== 0 || hasResidents(child)) return true;
  return false;
}
