import { isRemembered } from "../../errors.js";
import { type Payer, Share, shareOf } from "../../model/share.js";
import { noRoom, tooLarge } from "./answer-refusals.js";
import { AnswerSeries } from "./answer-series.js";
import { type AnswerStore, KEPT_GENERATIONS, ownCopy } from "./kept-answers.js";
import { weightOf } from "./weight.js";

/** What an answer takes besides its value and the name of its request. */
const KEYED_BYTES = 128;

export interface AnswerLimits {
  /** How long answers are kept at least. */
  readonly answersMs: number;
  /** Bytes of all answers that are kept. */
  readonly bytesMax: number;
}

/**
 * Requests that carry an id have their effect once: asked again within the time for which answers are kept, they get the
 * first answer, also while that is still to come. No answer is forgotten before that time: when the share of a caller is used
 * up, its new requests are refused (HW-4030), and those of others are not.
 *
 * Answers are kept in generations. A new one begins a few times in that time, and the oldest goes as a whole.
 */
export class Answers {
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #budget: Share;
  /** Per generation, the newest last: what was taken from which share for answers that go with it. */
  #taken: Map<Share, number>[] = [new Map()];
  #generation = 0;
  #nextTurn: number;
  readonly #sliceMs: number;
  readonly #series = new Map<string, AnswerSeries>();
  /** Those of clients that are away, in the order of going. */
  readonly #left = new Map<string, AnswerSeries>();

  constructor(
    readonly now: () => number,
    readonly limits: AnswerLimits,
    readonly store: AnswerStore,
  ) {
    this.#budget = Share.of(limits.bytesMax);
    this.#sliceMs = Math.max(1, Math.ceil(limits.answersMs / (KEPT_GENERATIONS - 1)));
    this.#nextTurn = now() + this.#sliceMs;
  }

  /** Bytes that are taken by all answers. */
  get bytes(): number {
    return this.#budget.held;
  }

  /** The number of the present generation. */
  get generation(): number {
    return this.#generation;
  }

  /** Answers of earlier generations are gone. */
  get oldestGeneration(): number {
    return this.#generation - KEPT_GENERATIONS + 1;
  }

  once(id: string, payer: Payer, ask: () => Promise<unknown>): Promise<unknown> {
    this.turnIfDue();
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay.then(ownResult, throwOwn);
    const kept = this.store.get(id);
    if (kept !== null) return kept.ok ? Promise.resolve(kept.value) : Promise.reject(kept.value);
    const share = shareOf(this.#budget, payer);
    const bytes = KEYED_BYTES + id.length;
    const reserved = this.reserveFor(share);
    if (!share.tryTake(bytes + reserved)) {
      share.leave();
      return Promise.reject(noRoom(this.limits.bytesMax, this.limits.answersMs));
    }
    const promise = ask();
    this.#underWay.set(id, promise);
    promise.then(
      (value) => this.#settled(id, share, bytes, reserved, true, value),
      (error: unknown) => this.#settled(id, share, bytes, reserved, false, error),
    );
    return promise;
  }

  #settled(id: string, share: Share, bytes: number, reserved: number, ok: boolean, value: unknown): void {
    this.#underWay.delete(id);
    if (!ok && !isRemembered(value)) {
      share.give(bytes + reserved);
      share.leave();
      return;
    }
    const more = this.roomFor(share, value, reserved);
    if (more === null) this.store.put(id, false, tooLarge());
    else this.store.put(id, ok, value);
    share.take((more ?? 0) - reserved);
    const taken = this.#taken.at(-1);
    taken?.set(share, (taken.get(share) ?? 0) + bytes + (more ?? 0));
    share.leave();
  }

  /** How many bytes are set aside for the answer to a request that begins. In a journal, there is room for it in any case. */
  reserveFor(share: Share): number {
    return this.store.isInMemory ? share.expected : 0;
  }

  /** How many bytes an answer takes from a share; null if it does not fit and need not be kept. The journal has it already. */
  roomFor(share: Share, value: unknown, reserved: number): number | null {
    const bytes = weightOf(value);
    share.learn(bytes);
    return this.store.isInMemory && bytes > reserved && share.room < bytes - reserved ? null : bytes;
  }

  /** The answers to the numbered requests of one client. */
  series(name: string, payer: Payer): AnswerSeries {
    this.turnIfDue();
    let series = this.#series.get(name) ?? this.#left.get(name);
    series ??= new AnswerSeries(this, name, shareOf(this.#budget, payer));
    this.#left.delete(name);
    this.#series.set(name, series);
    return series;
  }

  /** The client asks nothing for the time being. */
  leave(name: string): void {
    const series = this.#series.get(name);
    if (series === undefined) return;
    this.#series.delete(name);
    series.leftIn = this.#generation;
    this.#left.set(name, series);
  }

  turnIfDue(): void {
    const now = this.now();
    if (now >= this.#nextTurn) this.#turn();
    else if (now >= this.#nextTurn - this.#sliceMs) return;
    this.#nextTurn = now + this.#sliceMs; // also when the clock was set back
  }

  /** Begins a new generation and drops the oldest. */
  #turn(): void {
    this.#generation += 1;
    this.#taken.push(new Map());
    if (this.#taken.length > KEPT_GENERATIONS) {
      for (const [share, bytes] of this.#taken.shift() ?? []) share.give(bytes);
    }
    this.store.turn();
    for (const series of this.#series.values()) series.dropAllIfOld();
    for (const [name, series] of this.#left) {
      if (series.leftIn >= this.oldestGeneration || !series.dropAllIfOld()) continue;
      this.#left.delete(name);
      series.end();
    }
  }
}

function ownResult(value: unknown): unknown {
  return ownCopy({ ok: true, value }).value;
}

function throwOwn(error: unknown): never {
  throw ownCopy({ ok: false, value: error }).value;
}
