import type { EventFact, TrailFact } from "../observe/index.js";
import { KeptFacts } from "./kept-facts.js";

/** An event with its way through the program, and the events that it started, as far as they are remembered. */
export interface EventStory {
  readonly event: EventFact;
  readonly trail: TrailFact | null;
  readonly started: readonly EventFact[];
}

/** An event, and its number in the order in which events were settled. */
export type NumberedEvent = EventFact & { readonly number: number };

export interface EventFilter {
  /** Part of the context's address or of the method's name. */
  readonly text?: string;
  readonly failedOnly?: boolean;
  /** Only those behind this number. */
  readonly after?: number;
  readonly limit?: number;
  /** So many bytes of JSON, or one event more. */
  readonly bytesMax?: number;
}

/** The newest first, as far as they find room, and the number of the last event that was settled. */
export interface EventPage {
  readonly events: readonly NumberedEvent[];
  readonly last: number;
}

/**
 * The last events, and the last failed ones, which are kept apart: a busy program would push them out within a second. Both are bounded
 * by the bytes that they take, and ways of events by themselves, because they are longer.
 */
export class Recent {
  readonly #events: KeptFacts<NumberedEvent>;
  readonly #failed: KeptFacts<NumberedEvent>;
  readonly #trails: KeptFacts<TrailFact>;
  readonly #failedTrails: KeptFacts<TrailFact>;
  #last = 0;

  constructor(bytesMax = 2 ** 20) {
    this.#events = new KeptFacts(bytesMax);
    this.#failed = new KeptFacts(bytesMax / 2);
    this.#trails = new KeptFacts(2 * bytesMax);
    this.#failedTrails = new KeptFacts(bytesMax);
  }

  take(fact: EventFact): void {
    this.#last += 1;
    const numbered = { ...fact, number: this.#last };
    this.#events.add(numbered);
    if (!fact.ok) this.#failed.add(numbered);
  }

  trail(fact: TrailFact): void {
    (fact.thrown === null ? this.#trails : this.#failedTrails).add(fact);
  }

  list({
    text = "",
    failedOnly = false,
    after = 0,
    limit = 200,
    bytesMax = Number.POSITIVE_INFINITY,
  }: EventFilter): EventPage {
    const events: NumberedEvent[] = [];
    const from = (failedOnly ? this.#failed : this.#events).items;
    let bytes = 0;
    for (let i = from.length - 1; i >= 0 && events.length < limit && bytes < bytesMax; i--) {
      const fact = from[i] as NumberedEvent;
      if (fact.number <= after) break;
      if (!`${fact.context}.${fact.method}`.includes(text)) continue;
      events.push(fact);
      bytes += Buffer.byteLength(JSON.stringify(fact));
    }
    return { events, last: this.#last };
  }

  story(node: string, ticket: number): EventStory | null {
    const isIt = (fact: { readonly node: string; readonly ticket: number }) =>
      fact.node === node && fact.ticket === ticket;
    const event = this.#events.items.findLast(isIt) ?? this.#failed.items.findLast(isIt);
    if (event === undefined) return null;
    const trail = this.#trails.items.findLast(isIt) ?? this.#failedTrails.items.findLast(isIt) ?? null;
    const started = this.#events.items.filter((fact) => fact.parentNode === node && fact.parent === ticket);
    return { event, trail, started: started.slice(0, STARTED_MAX) };
  }
}

const STARTED_MAX = 100;
