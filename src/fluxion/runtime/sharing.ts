import { HeadwaterError } from "../../errors.js";
import type { Claims } from "./claims.js";
import type { Parcel } from "./parcel.js";

/**
 * Which thread runs which stage. One queue for all of them, first in, first out. When no thread is idle, each is given one
 * more beside the running one, so that it need not wait for the main loop in between. Until it has begun with that
 * one, it can be taken back: for a thread that is idle, for one that has run what came later, and when the thread ends.
 */

/** The stages that a thread has at a time: one runs, one waits. */
export const PLACES = 2;
/** A stage that waited in so many threads that ended is not offered again. */
const THREADS_LOST_MAX = 3;

export interface Job {
  readonly id: string;
  readonly parcel: Parcel;
  /** Null if no thread has begun with it, and none will. */
  ended(report: Parcel | null): void;
  /** It has begun, and its thread has ended. */
  failed(error: unknown): void;
}

/** Gives a stage to a thread. Comes to null if it was taken back. */
export type SendStage = (thread: number, job: Job, place: number) => Promise<Parcel | null>;

interface Waiting {
  readonly job: Job;
  /** They are counted as they come. */
  readonly number: number;
  /** The threads that have ended while it waited there. */
  threadsLost: number;
}

interface Place {
  readonly index: number;
  /** Null if it was taken back, which the thread has yet to notice. */
  holds: Waiting | null;
}

interface Thread {
  readonly key: number;
  readonly given: Place[];
  readonly free: number[];
  /** The latest that has ended here. */
  latest: number;
  /** False for one that replaces another and has not been heard of yet. */
  isProven: boolean;
}

export class Sharing {
  readonly #threads: readonly Thread[];
  readonly #claims: Claims;
  readonly #send: SendStage;
  readonly #queue: Waiting[] = [];
  #count = 0;
  #isStopped = false;

  constructor(threads: number, claims: Claims, send: SendStage) {
    this.#threads = Array.from({ length: threads }, (_, key) => ({
      key,
      given: [],
      free: Array.from({ length: PLACES }, (_, place) => key * PLACES + place),
      latest: -1,
      isProven: true,
    }));
    this.#claims = claims;
    this.#send = send;
  }

  /** How many wait for a thread. */
  get waiting(): number {
    const second = this.#threads.filter(({ given }) => given.length === PLACES && given[1]?.holds !== null);
    return this.#queue.length + second.length;
  }

  add(job: Job): void {
    if (this.#isStopped) return job.ended(null);
    this.#queue.push({ job, number: this.#count++, threadsLost: 0 });
    this.#share();
  }

  /** Takes back all that has not begun. */
  stop(): void {
    this.#isStopped = true;
    const places = this.#threads.flatMap(({ given }) => given);
    const waiting = [...places.map((place) => this.#takeBack(place)), ...this.#queue.splice(0)];
    const inOrder = waiting.filter((each) => each !== undefined).sort((a, b) => a.number - b.number);
    for (const { job } of inOrder) job.ended(null);
  }

  #share(): void {
    for (;;) {
      const thread = this.#withRoom();
      const next = thread === null ? undefined : this.#nextFor(thread);
      if (thread === null || next === undefined) return;
      this.#offer(thread, next);
    }
  }

  /** The thread that has least; of several, rather one that is known to run. */
  #withRoom(): Thread | null {
    let found: Thread | null = null;
    for (const thread of this.#threads) {
      if (thread.given.length >= (thread.isProven ? PLACES : 1)) continue;
      if (found === null || loadOf(thread) < loadOf(found)) found = thread;
    }
    return found;
  }

  #nextFor(thread: Thread): Waiting | undefined {
    const overtaken = this.#oldestElsewhere(thread, ({ number }) => number < thread.latest);
    if (overtaken !== undefined) return overtaken;
    const next = this.#queue.shift();
    if (next !== undefined || thread.given.length > 0) return next;
    return this.#oldestElsewhere(thread, () => true);
  }

  /**
   * Takes back the oldest that waits in another thread. What is alone in a proven thread has begun, or is about to. Any other
   * may have begun, too, without having been heard of: the next oldest is taken back then.
   */
  #oldestElsewhere(than: Thread, isMeant: (waiting: Waiting) => boolean): Waiting | undefined {
    const candidates: { place: Place; number: number }[] = [];
    for (const thread of this.#threads) {
      if (thread === than) continue;
      const place = thread.given[thread.isProven ? 1 : 0];
      if (place?.holds && isMeant(place.holds)) candidates.push({ place, number: place.holds.number });
    }
    candidates.sort((a, b) => a.number - b.number);
    for (const { place } of candidates) {
      const taken = this.#takeBack(place);
      if (taken !== undefined) return taken;
    }
    return undefined;
  }

  #takeBack(place: Place): Waiting | undefined {
    const { holds, index } = place;
    if (holds === null || !this.#claims.takeBack(index)) return undefined;
    place.holds = null;
    return holds;
  }

  #offer(thread: Thread, waiting: Waiting): void {
    const index = thread.free.pop();
    if (index === undefined) throw new Error("a thread is given more stages than it has places for.");
    const place: Place = { index, holds: waiting };
    thread.given.push(place);
    this.#claims.offer(index);
    this.#send(thread.key, waiting.job, index).then(
      (report) => this.#answered(thread, place, report),
      (error: unknown) => this.#failed(thread, place, error),
    );
  }

  #answered(thread: Thread, place: Place, report: Parcel | null): void {
    const { holds } = place;
    this.#clear(thread, place);
    thread.isProven = true;
    if (holds !== null) {
      thread.latest = Math.max(thread.latest, holds.number);
      holds.job.ended(report);
    }
    this.#share();
  }

  #failed(thread: Thread, place: Place, error: unknown): void {
    const { holds } = place;
    const innocent = this.#takeBack(place);
    this.#clear(thread, place);
    const isThreadLost = error instanceof HeadwaterError && error.code === "HW-6004";
    if (isThreadLost) thread.isProven = false;
    if (innocent === undefined) holds?.job.failed(error);
    else if (isThreadLost && !this.#isStopped && ++innocent.threadsLost < THREADS_LOST_MAX)
      this.#again(innocent);
    else innocent.job.ended(null);
    this.#share();
  }

  #clear(thread: Thread, place: Place): void {
    thread.given.splice(thread.given.indexOf(place), 1);
    thread.free.push(place.index);
  }

  /** Where it was in the queue. */
  #again(waiting: Waiting): void {
    const behind = this.#queue.findIndex(({ number }) => number > waiting.number);
    this.#queue.splice(behind < 0 ? this.#queue.length : behind, 0, waiting);
  }
}

function loadOf({ given, isProven }: Thread): number {
  return given.length + (isProven ? 0 : 0.5);
}
