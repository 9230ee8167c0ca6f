import type { Subject } from "./subject.js";

/** Prime to the 160 contexts, so that the samples go round them too instead of always meeting the same few. */
const SAMPLE_EVERY = 17;
/** With fewer samples than this, a quantile is luck: then each event is one, and a look at the clock costs little beside it. */
const SAMPLES_MIN = 100;

function sampleEvery(events: number): number {
  return events < SAMPLES_MIN * SAMPLE_EVERY ? 1 : SAMPLE_EVERY;
}

export interface Measurement {
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A system that is driven, here or in another process. */
export interface Driven {
  /** How many events were asked for, warm-up included. */
  readonly asked: number;
  /** Asks for nothing more. What is in flight is waited for, then `drive` fails. */
  interrupt(): void;
  drive(events: number, inFlight: number, work: number): Promise<Measurement>;
  /** The sum of all counters. */
  counted(): Promise<number>;
  stop(): Promise<void>;
}

/** Drives one system round robin over its counters. The same code drives all of them. */
export class Driver implements Driven {
  #asked = 0;
  #counter = 0;
  #isInterrupted = false;

  constructor(
    readonly subject: Subject,
    readonly contexts: number,
  ) {}

  get asked(): number {
    return this.#asked;
  }

  counted(): Promise<number> {
    return this.subject.counted();
  }

  stop(): Promise<void> {
    return this.subject.stop();
  }

  interrupt(): void {
    this.#isInterrupted = true;
  }

  /** Keeps `inFlight` events in flight: as many loops, each of which awaits its reply before it asks again. */
  async drive(events: number, inFlight: number, work: number): Promise<Measurement> {
    const every = sampleEvery(events);
    const latenciesMs = new Float64Array(Math.ceil(events / every));
    const loops: Promise<void>[] = [];
    const last = this.#asked + events;
    const first = this.#asked;
    const beganMs = performance.now();
    for (let i = 0; i < inFlight; i++) loops.push(this.#loop(first, last, work, every, latenciesMs));
    await Promise.all(loops);
    if (this.#isInterrupted) throw new Error("interrupted.");
    const seconds = (performance.now() - beganMs) / 1000;
    latenciesMs.sort();
    return {
      events,
      eventsPerSecond: events / seconds,
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
    };
  }

  async #loop(
    first: number,
    last: number,
    work: number,
    every: number,
    latenciesMs: Float64Array,
  ): Promise<void> {
    const { subject } = this;
    while (this.#asked < last && !this.#isInterrupted) {
      const event = this.#asked++ - first;
      const isSampled = event % every === 0;
      const askedMs = isSampled ? performance.now() : 0;
      try {
        await subject.call(this.#next(), work);
      } catch (error) {
        if (!subject.isLostReply?.(error)) throw error;
      }
      if (isSampled) latenciesMs[event / every] = performance.now() - askedMs;
    }
  }

  #next(): number {
    const counter = this.#counter;
    this.#counter = counter + 1 === this.contexts ? 0 : counter + 1;
    return counter;
  }
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
