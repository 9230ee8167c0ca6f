import type { Fact } from "../observe/index.js";
import { Histogram } from "./histogram.js";

/** What went on in a program within one second. Durations are in milliseconds, and null where nothing was measured. */
export interface Second {
  readonly atMs: number;
  readonly events: number;
  readonly failed: number;
  readonly refused: number;
  readonly restarts: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Medians of the parts of an event's way: waiting for earlier events, running, waiting for the journal. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
  readonly journaledMs: number | null;
  readonly commits: number;
  readonly commitP99Ms: number | null;
}

/** The last minutes, second by second. */
export class Seconds {
  readonly #past: Second[] = [];
  #now = new Counting();

  constructor(readonly secondsMax = 300) {}

  take(fact: Fact): void {
    this.#now.take(fact);
  }

  /** A second is over. */
  tick(atMs: number): Second {
    const second = this.#now.second(atMs);
    this.#past.push(second);
    if (this.#past.length > this.secondsMax) this.#past.shift();
    this.#now = new Counting();
    return second;
  }

  get past(): readonly Second[] {
    return this.#past;
  }
}

class Counting {
  readonly #total = new Histogram();
  readonly #waited = new Histogram();
  readonly #ran = new Histogram();
  readonly #journaled = new Histogram();
  readonly #commit = new Histogram();
  #failed = 0;
  #refused = 0;
  #restarts = 0;

  take(fact: Fact): void {
    if (fact.kind === "journal") return this.#commit.add(fact.ms);
    if (fact.kind === "refused") this.#refused += 1;
    if (fact.kind !== "event") return;
    this.#total.add(fact.totalMs);
    this.#waited.add(fact.waitedMs);
    this.#ran.add(fact.ranMs);
    this.#journaled.add(fact.journaledMs);
    if (!fact.ok) this.#failed += 1;
    this.#restarts += fact.attempts - 1;
  }

  second(atMs: number): Second {
    return {
      ...{ atMs, events: this.#total.count, failed: this.#failed, refused: this.#refused },
      restarts: this.#restarts,
      p50Ms: this.#total.quantile(0.5),
      p99Ms: this.#total.quantile(0.99),
      waitedMs: this.#waited.quantile(0.5),
      ranMs: this.#ran.quantile(0.5),
      journaledMs: this.#journaled.quantile(0.5),
      commits: this.#commit.count,
      commitP99Ms: this.#commit.quantile(0.99),
    };
  }
}
