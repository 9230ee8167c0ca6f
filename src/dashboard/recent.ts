import type { EventFact, WaitFact } from "../observe/index.js";

/** An event with what it waited for, and the events that it started, as far as they are remembered. */
export interface EventStory {
  readonly event: EventFact;
  readonly waits: readonly WaitFact[];
  readonly started: readonly EventFact[];
}

export interface EventFilter {
  /** Part of the context's address or of the method's name. */
  readonly text?: string;
  readonly failedOnly?: boolean;
  readonly limit?: number;
}

/**
 * The last events, and the last failed ones, which are kept apart: a busy program would push them out within a second. An event
 * takes about 300 bytes, so both are bounded by their counts. Waits are noted before the event that waits is settled.
 */
export class Recent {
  readonly #events: EventFact[] = [];
  readonly #failed: EventFact[] = [];
  readonly #waits = new Map<string, WaitFact[]>();

  constructor(
    readonly eventsMax = 2000,
    readonly failedMax = 500,
  ) {}

  take(fact: EventFact): void {
    push(this.#events, fact, this.eventsMax);
    if (!fact.ok) push(this.#failed, fact, this.failedMax);
  }

  wait(fact: WaitFact): void {
    const key = `${fact.node}/${fact.ticket}`;
    const waits = this.#waits.get(key) ?? [];
    if (waits.length < WAITS_PER_EVENT_MAX) waits.push(fact);
    this.#waits.delete(key);
    this.#waits.set(key, waits);
    for (const oldest of this.#waits.keys()) {
      if (this.#waits.size <= this.eventsMax) break;
      this.#waits.delete(oldest);
    }
  }

  /** The newest first. */
  list({ text = "", failedOnly = false, limit = 200 }: EventFilter): EventFact[] {
    const found: EventFact[] = [];
    const from = failedOnly ? this.#failed : this.#events;
    for (let i = from.length - 1; i >= 0 && found.length < limit; i--) {
      const fact = from[i] as EventFact;
      if (`${fact.context}.${fact.method}`.includes(text)) found.push(fact);
    }
    return found;
  }

  story(node: string, ticket: number): EventStory | null {
    const isIt = (fact: EventFact) => fact.node === node && fact.ticket === ticket;
    const event = this.#events.findLast(isIt) ?? this.#failed.findLast(isIt);
    if (event === undefined) return null;
    const started = this.#events.filter((fact) => fact.node === node && fact.parent === ticket);
    return { event, waits: this.#waits.get(`${node}/${ticket}`) ?? [], started };
  }
}

const WAITS_PER_EVENT_MAX = 32;

/** Cuts only now and then: shifting an array with each fact would cost more than the fact. */
function push<T>(items: T[], item: T, max: number): void {
  items.push(item);
  if (items.length >= 2 * max) items.splice(0, items.length - max);
}
