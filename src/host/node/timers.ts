import type { Plant } from "../../core/plants.js";
import type { TimerId } from "../../model/event.js";
import { type Effect, type Supervisor, timerKey } from "../event/index.js";
import type { Ports } from "../ports/index.js";
import { type Due, DueHeap } from "./due-heap.js";

export type Timer = Extract<Effect, { kind: "timer" }>;

/** Where timers are that are not in memory. */
export interface StoredTimers {
  /** In the order in which they go off, those behind the key `after`. */
  behind(after: string): Iterable<[key: string, timer: Timer]>;
  has(key: string): boolean;
}

/** So many are read before a program takes requests. */
const FIRST_PAGE = 50;

class Armed implements Due {
  at = -1;

  constructor(
    readonly key: string,
    readonly timer: Timer,
  ) {}
}

/**
 * The armed timers of a logical node. They go off one after the other in the order of their keys (`due.ts`), none before
 * it is due. With a journal, only timers that are due next are in memory: the others are read when it is their turn.
 */
export class Timers {
  readonly #next = new DueHeap<Armed>();
  /** Those in memory: armed ones, and those whose events are under way. */
  readonly #known = new Map<TimerId, Armed>();
  readonly #stored: StoredTimers | null;
  /** The timers in the journal behind this key are not in memory; null if all are. */
  #readUpTo: string | null = null;
  /** How many are read, or go off, at a time; twice as many are in memory at most. */
  readonly #page: number;
  #goneOff = 0;
  #wakesAt = Number.POSITIVE_INFINITY;
  #callOff: (() => void) | null = null;

  constructor(
    readonly of: Pick<Supervisor, "limits" | "marks"> & {
      readonly name: string;
      readonly plant: Plant | undefined;
    },
    readonly ports: Ports,
    readonly fire: (timer: Timer) => void,
    stored: StoredTimers | null,
  ) {
    this.#stored = stored;
    this.#page = of.limits.timers;
  }

  /** For tests: all of them, wherever they are. */
  get armed(): ReadonlySet<TimerId> {
    const armed = new Set<TimerId>();
    for (const { timer } of this.#next) armed.add(timer.id);
    for (const [, { id }] of this.#stored?.behind("") ?? [])
      if (this.#known.get(id)?.at !== -1) armed.add(id);
    return armed;
  }

  /** How many are in memory. */
  get inMemory(): number {
    return this.#known.size;
  }

  /** Goes on with the timers in the journal; the events of `underWay` are to run under the tickets that they had. */
  recover(underWay: Iterable<Timer>): void {
    for (const timer of underWay) {
      this.#known.set(timer.id, new Armed(timerKey(this.of.name, timer.id, timer.due), timer));
      this.#goneOff += 1;
    }
    this.#readUpTo = "";
    this.#readPage(Math.min(FIRST_PAGE, this.#page));
    this.#sleep();
  }

  /** With a journal, it has the timer already. */
  arm(timer: Timer): void {
    if (this.#known.has(timer.id)) return; // it was read from the journal before its event had settled
    const key = timerKey(this.of.name, timer.id, timer.due);
    if (this.#readUpTo !== null && key > this.#readUpTo) return;
    // Of events that were journaled together, one that cancels it, or its own, may have settled first.
    if (this.#stored !== null && !this.#stored.has(key)) return;
    this.#add(new Armed(key, timer));
    if (this.#stored !== null && this.#next.size > 2 * this.#page) this.#leaveToJournal();
    this.#sleep();
  }

  #add(armed: Armed): void {
    this.#known.set(armed.timer.id, armed);
    this.#next.add(armed);
  }

  disarm(id: TimerId): void {
    const armed = this.#known.get(id);
    if (armed === undefined || armed.at < 0) return;
    this.#known.delete(id);
    this.#next.remove(armed);
    this.#sleep();
  }

  /** The event of a timer has settled. */
  settled(id: TimerId): void {
    if (!this.#known.delete(id)) return;
    this.#goneOff -= 1;
    if (this.#callOff === null) this.#sleep();
  }

  disarmAll(): void {
    this.#callOff?.();
    this.#callOff = null;
    this.#wakesAt = Number.NEGATIVE_INFINITY; // no more
    this.#next.clear();
    this.#known.clear();
  }

  #leaveToJournal(): void {
    for (const { timer } of this.#next.cut(this.#page)) this.#known.delete(timer.id);
    let last = "";
    for (const { key } of this.#next) if (key > last) last = key;
    this.#readUpTo = last;
    this.of.marks?.hit("timers were left to the journal");
  }

  #readPage(most = this.#page): void {
    let count = 0;
    for (const [key, timer] of this.#stored?.behind(this.#readUpTo ?? "") ?? []) {
      this.#readUpTo = key;
      const place = this.of.plant === "timers-by-name" ? timer.id : key;
      if (!this.#known.has(timer.id)) this.#add(new Armed(place, timer));
      count += 1;
      if (count === most) return;
    }
    this.#readUpTo = null;
  }

  get #hasRoom(): boolean {
    return this.#goneOff < this.of.limits.inFlight;
  }

  /** Until the next is due. */
  #sleep(): void {
    while (this.#next.size === 0 && this.#readUpTo !== null) this.#readPage();
    const due = this.#hasRoom ? this.#next.first?.timer.due : undefined;
    if (due === this.#wakesAt || this.#wakesAt === Number.NEGATIVE_INFINITY) return;
    this.#callOff?.();
    this.#callOff = null;
    this.#wakesAt = due ?? Number.POSITIVE_INFINITY;
    if (due !== undefined) this.#callOff = this.ports.at(due, () => this.#wake());
  }

  #wake(): void {
    this.#callOff = null;
    this.#wakesAt = Number.POSITIVE_INFINITY;
    const now = this.ports.now();
    // Others get their turn when many have gone off.
    for (let count = 0; count < this.#page && this.#hasRoom; count++) {
      const { first } = this.#next;
      if (first === undefined || first.timer.due > now) break;
      this.#next.remove(first);
      this.#goneOff += 1;
      this.fire(first.timer);
      while (this.#next.size === 0 && this.#readUpTo !== null) this.#readPage();
    }
    this.#sleep();
  }
}
