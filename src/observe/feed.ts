import type { Fact, Kind } from "./facts.js";
import { Observation, type ObserveOptions, type Observer } from "./observation.js";
import type { TraceLink } from "./trace-link.js";

export type FactOf<K extends Kind> = Extract<Fact, { kind: K }>;

type Without<F, Field extends PropertyKey> = F extends unknown ? Omit<F, Field> : never;

type Listener = (fact: Fact) => void;

/**
 * The one feed of facts about a running program. Parts of the runtime note facts, and never know who hears them. Making a
 * fact costs something, so they ask first whether it is wanted: for what no listener wants, nothing is made.
 */
export class Feed {
  readonly #listeners = new Map<Kind, readonly Listener[]>();
  readonly #apart: (callback: () => void) => void;
  readonly #watchers: (() => void)[] = [];
  /** To the traces of callers; null while none are wanted. */
  link: TraceLink | null = null;

  /** `apart` runs a callback of the application, and deals with what it throws. */
  constructor(apart: (callback: () => void) => void) {
    this.#apart = apart;
  }

  wants(kind: Kind): boolean {
    return this.#listeners.has(kind);
  }

  note(noted: Without<Fact, "atMs">): void {
    const listeners = this.#listeners.get(noted.kind);
    if (listeners === undefined) return;
    const fact = { ...noted, atMs: Date.now() } as Fact;
    for (const listener of listeners) this.#apart(() => listener(fact));
  }

  /** Calls the listener as soon as a fact is noted, amid the runtime's work: it must be quick. Returns how to stop. */
  hear<K extends Kind>(kind: K, listener: (fact: FactOf<K>) => void): () => void {
    const hears = listener as Listener;
    this.#change(kind, [...(this.#listeners.get(kind) ?? []), hears]);
    return () => this.#change(kind, this.#listeners.get(kind)?.filter((each) => each !== hears) ?? []);
  }

  /** Hands facts of these kinds to an observer, when the runtime has done what is due, within a buffer of bounded size. */
  observe<K extends Kind>(
    kinds: readonly K[],
    observer: Observer<FactOf<K>>,
    options: ObserveOptions = {},
  ): Observation {
    const stops: (() => void)[] = [];
    const observation = new Observation(observer as Observer<Fact>, this.#apart, options, () => {
      for (const stop of stops) stop();
    });
    const { trace } = options;
    if (trace !== undefined) {
      this.link = trace;
      stops.push(
        this.hear("event", (fact) => trace.settled(fact)),
        () => {
          if (this.link === trace) this.link = null;
        },
      );
    }
    for (const kind of new Set(kinds)) stops.push(this.hear(kind, (fact) => observation.take(fact)));
    return observation;
  }

  /** Calls back now, and whenever a kind is wanted that was not, or not any more. */
  watch(changed: () => void): void {
    this.#watchers.push(changed);
    changed();
  }

  #change(kind: Kind, listeners: readonly Listener[]): void {
    const wanted = this.wants(kind);
    if (listeners.length === 0) this.#listeners.delete(kind);
    else this.#listeners.set(kind, listeners);
    if (wanted !== this.wants(kind)) for (const changed of this.#watchers) changed();
  }
}
