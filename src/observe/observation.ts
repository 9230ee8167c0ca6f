import type { DroppedFact, Fact } from "./facts.js";
import { bytesOf } from "./size.js";
import type { TraceLink } from "./trace-link.js";

export interface ObserveOptions {
  /** How many bytes of facts may wait for the observer. 1 MiB unless told otherwise. */
  readonly bytesMax?: number;
  /** Ties events to traces while it observes. A program has one such link at a time. */
  readonly trace?: TraceLink;
}

/** Hears one fact after the other. If it returns a promise, the next comes when that has settled. */
export type Observer<F> = (fact: F | DroppedFact) => void | Promise<void>;

const BYTES_MAX = 2 ** 20;
/** So many facts are handed over before the runtime gets a turn again. */
const AT_ONCE = 256;

/**
 * One observer of a feed. Facts wait in a buffer of bounded size until the runtime has done what is due. An observer that is
 * too slow misses facts: facts that find no room are dropped and counted, and the observer is told how many, in their place.
 */
export class Observation {
  readonly #observer: Observer<Fact>;
  readonly #apart: (callback: () => void) => void;
  readonly #bytesMax: number;
  #end: () => void;
  #waiting: { readonly fact: Fact | DroppedFact; readonly bytes: number }[] = [];
  #bytes = 0;
  /** Dropped since the observer was told the last time. */
  #untold = 0;
  #isHandingOver = false;
  #isStopped = false;
  /** How many facts were dropped so far. */
  dropped = 0;

  constructor(
    observer: Observer<Fact>,
    apart: (callback: () => void) => void,
    { bytesMax = BYTES_MAX }: ObserveOptions,
    end: () => void,
  ) {
    this.#observer = observer;
    this.#apart = apart;
    this.#bytesMax = bytesMax;
    this.#end = end;
  }

  take(fact: Fact): void {
    if (this.#isStopped) return;
    const bytes = bytesOf(fact);
    if (this.#bytes + bytes > this.#bytesMax) {
      this.dropped += 1;
      this.#untold += 1;
      return;
    }
    this.#tellDropped();
    this.#bytes += bytes;
    this.#waiting.push({ fact, bytes });
    if (this.#isHandingOver) return;
    this.#isHandingOver = true;
    setImmediate(() => void this.#handOver());
  }

  /** Hands over nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
    this.#bytes = 0;
    this.#end();
    this.#end = () => {};
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  #tellDropped(): void {
    if (this.#untold === 0) return;
    this.#waiting.push({ fact: { kind: "dropped", atMs: Date.now(), count: this.#untold }, bytes: 0 });
    this.#untold = 0;
  }

  async #handOver(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, AT_ONCE);
      for (const { fact, bytes } of some) {
        if (this.#isStopped) return;
        const busy = this.#hand(fact);
        if (busy !== null) await busy;
        this.#bytes -= bytes;
      }
      if (this.#waiting.length === 0) this.#tellDropped();
      if (this.#waiting.length > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#isHandingOver = false;
  }

  #hand(fact: Fact | DroppedFact): Promise<void> | null {
    let busy: Promise<void> | null = null;
    this.#apart(() => {
      const returned = this.#observer(fact as Fact);
      if (typeof returned?.then === "function")
        busy = returned.then(undefined, (error: unknown) => this.#apart(() => rethrow(error)));
    });
    return busy;
  }
}

function rethrow(error: unknown): never {
  throw error;
}
