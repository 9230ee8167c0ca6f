import { performance } from "node:perf_hooks";
import { type Path, pathOf } from "../../model/path.js";
import { roughBytes } from "../../state/rough-size.js";
import type { Slot } from "../context/index.js";

/** What was seen of one context between two readings: how long it ran and how often, in what was timed of it. */
export interface ContextSample {
  readonly node: string;
  readonly path: Path;
  readonly ms: number;
  readonly events: number;
  readonly bytes: number;
}

/** So many events are timed between two readings; of more, one in several. */
const TIMED = 2000;
/** Busy contexts beyond so many count for the ones right below the root that they are in. */
const CONTEXTS_MAX = 1024;
/** So many contexts are looked at for their size at each reading. */
const SIZED = 256;
const BYTES_NOTED = 4096;

interface Seen {
  ms: number;
  events: number;
}

/** Which contexts keep a host busy, and which ones fill it. Sampled, so that it costs next to nothing. */
export class ContextLoads {
  readonly #roots: ReadonlyMap<string, Slot>;
  #seen = new Map<Slot, Seen>();
  readonly #bytes = new Map<Slot, number>();
  #toSize: Iterator<Slot> | null = null;
  #count = 0;
  #every = 1;
  #beganMs = 0;

  constructor(roots: ReadonlyMap<string, Slot>) {
    this.#roots = roots;
  }

  /** A part of an event, or of several, is about to run; is it to be timed? */
  begins(): boolean {
    this.#count += 1;
    if (this.#count % this.#every !== 0) return false;
    this.#beganMs = performance.now();
    return true;
  }

  /** So many events ran in that context. */
  ends(slot: Slot, count: number): void {
    const ms = performance.now() - this.#beganMs;
    const own = this.#seen.size < CONTEXTS_MAX || this.#seen.has(slot) ? slot : top(slot);
    const seen = this.#seen.get(own);
    const events = count * this.#every;
    if (seen === undefined) this.#seen.set(own, { ms: ms * this.#every, events });
    else {
      seen.ms += ms * this.#every;
      seen.events += events;
    }
  }

  read(): ContextSample[] {
    this.#lookAtSizes();
    const seen = this.#seen;
    this.#seen = new Map();
    this.#every = Math.max(1, Math.round(this.#count / TIMED));
    this.#count = 0;
    const all = new Set([...seen.keys(), ...this.#bytes.keys()]);
    return [...all].map((slot) => {
      const { ms, events } = seen.get(slot) ?? { ms: 0, events: 0 };
      return { node: slot.node, path: pathOf(slot), ms, events, bytes: this.#bytes.get(slot) ?? 0 };
    });
  }

  /** Goes round all contexts, a few at each reading. */
  #lookAtSizes(): void {
    for (const slot of this.#bytes.keys()) if (!slot.exists) this.#bytes.delete(slot); // it was evicted
    for (let i = 0; i < SIZED; i++) {
      this.#toSize ??= everything(this.#roots.values());
      const { value: slot, done } = this.#toSize.next() as IteratorResult<Slot, undefined>;
      if (done || slot === undefined) {
        this.#toSize = null;
        return;
      }
      const bytes = slot.exists ? roughBytes(slot.state) : 0;
      if (bytes < BYTES_NOTED || (this.#bytes.size >= CONTEXTS_MAX && !this.#bytes.has(slot)))
        this.#bytes.delete(slot);
      else this.#bytes.set(slot, bytes);
    }
  }
}

function* everything(slots: Iterable<Slot>): Generator<Slot, undefined> {
  for (const slot of slots) {
    yield slot;
    yield* everything(slot.made());
  }
}

function top(slot: Slot): Slot {
  return slot.depth <= 1 || slot.parent === null ? slot : top(slot.parent);
}
