import type { EventFact } from "../observe/index.js";

/** How busy a context is: events that started there, per second, over about the last ten seconds. */
export interface BusyContext {
  readonly address: string;
  readonly host: number | null;
  readonly perSecond: number;
  readonly failedPerSecond: number;
}

interface Counts {
  host: number | null;
  events: number;
  failed: number;
}

/** The share of a count that is left after a second: after ten seconds a third is. */
const KEPT = Math.exp(-1 / 10);
/** A context with fewer events per second than this is forgotten. */
const FORGOTTEN = 0.01;

/** Counts events by context, for at most so many contexts: contexts that come when it is full are not counted until others are forgotten. */
export class Busy {
  readonly #counts = new Map<string, Counts>();

  constructor(readonly contextsMax = 20_000) {}

  take({ context, host, ok }: EventFact): void {
    let counts = this.#counts.get(context);
    if (counts === undefined) {
      if (this.#counts.size >= this.contextsMax) return;
      counts = { host, events: 0, failed: 0 };
      this.#counts.set(context, counts);
    }
    counts.host = host;
    counts.events += 1;
    if (!ok) counts.failed += 1;
  }

  /** A second is over. */
  tick(): void {
    for (const [context, counts] of this.#counts) {
      counts.events *= KEPT;
      counts.failed *= KEPT;
      if (counts.events * RATE < FORGOTTEN) this.#counts.delete(context);
    }
  }

  of(context: string): BusyContext | null {
    const counts = this.#counts.get(context);
    return counts === undefined ? null : shown(context, counts);
  }

  /** The busiest ones whose address contains the text, the busiest first. */
  top(limit: number, text = ""): BusyContext[] {
    return [...this.#counts]
      .filter(([context]) => context.includes(text))
      .sort(([, a], [, b]) => b.events - a.events)
      .slice(0, limit)
      .map(([context, counts]) => shown(context, counts));
  }
}

/** A steady load of one event per second adds up to this many kept counts. */
const RATE = (1 - KEPT) / KEPT;

function shown(address: string, { host, events, failed }: Counts): BusyContext {
  return { address, host, perSecond: events * RATE, failedPerSecond: failed * RATE };
}
