import { HeadwaterError } from "../errors.js";
import type { Waiting } from "../model/door.js";

/** The request was not carried out, and may be at another time: there is nothing to remember. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HeadwaterError && REFUSALS.test(error.code);
}

/** The node is full, the service has stopped, the journal takes no more. */
const REFUSALS = /^HW-(1301|1401|30\d\d)$/;

interface Answer {
  readonly id: string;
  readonly promise: Promise<unknown>;
  /** When it was given; null while its event is under way. */
  answeredAt: number | null;
}

/**
 * Requests that carry an id have their effect once: asked again within the time for which answers are remembered,
 * they get the first answer, also while that is still to come.
 */
export class Answers {
  readonly #known = new Map<string, Answer>();
  /** Answered ones in the order of their answers, from `#oldest` on. */
  #answered: Answer[] = [];
  #oldest = 0;
  readonly #series = new Map<string, AnswerSeries>();
  /** Those of clients that are away, in the order of going. */
  readonly #left = new Map<string, AnswerSeries>();
  /** Answers in all series. */
  numbered = 0;

  constructor(
    readonly now: () => number,
    readonly rememberMs: number,
    readonly countMax: number,
    /** Hears of requests whose answers are not remembered any longer. */
    readonly forgotten: ((request: string) => void) | null = null,
  ) {}

  once(id: string, ask: () => Promise<unknown>): Promise<unknown> {
    this.#forget();
    const known = this.#known.get(id);
    if (known !== undefined) return known.promise;
    const answer: Answer = { id, promise: ask(), answeredAt: null };
    this.#known.set(id, answer);
    const settled = () => {
      answer.answeredAt = this.now();
      this.#answered.push(answer);
    };
    answer.promise.then(settled, (error: unknown) => {
      if (isRefusal(error)) this.#known.delete(id);
      else settled();
    });
    return answer.promise;
  }

  /** The answers to the numbered requests of one client. */
  series(name: string): AnswerSeries {
    this.#forgetLeft();
    const series = this.#series.get(name) ?? this.#left.get(name) ?? new AnswerSeries(this, name);
    this.#left.delete(name);
    this.#series.set(name, series);
    return series;
  }

  /** The client asks nothing for the time being. */
  leave(name: string): void {
    const series = this.#series.get(name);
    if (series === undefined) return;
    this.#series.delete(name);
    series.leftAt = this.now();
    this.#left.set(name, series);
  }

  get hasTooMany(): boolean {
    return this.#known.size + this.numbered > this.countMax;
  }

  /** Drops what is too old, and the oldest if there are too many. */
  #forget(): void {
    const before = this.now() - this.rememberMs;
    while (this.#oldest < this.#answered.length) {
      const { id, answeredAt } = this.#answered[this.#oldest] as Answer;
      if ((answeredAt ?? 0) >= before && this.#known.size + this.numbered < this.countMax) break;
      this.#known.delete(id);
      this.forgotten?.(id);
      this.#oldest += 1;
    }
    if (this.#oldest > 1000 && this.#oldest * 2 > this.#answered.length) {
      this.#answered = this.#answered.slice(this.#oldest);
      this.#oldest = 0;
    }
  }

  /** Drops the series of clients that have been away so long that all their answers are too old. */
  #forgetLeft(): void {
    const before = this.now() - this.rememberMs;
    for (const [name, series] of this.#left) {
      if (series.leftAt >= before && !this.hasTooMany) return;
      series.answered(Number.POSITIVE_INFINITY);
      if (series.size > 0) return; // its last event is under way
      this.#left.delete(name);
    }
  }
}

/** The name of the request to which a client gave this number. */
export function numberedRequest(client: string, number: number): string {
  return `socket:${client}:${number}`;
}

const SWEEP_MIN = 2048;

/**
 * The same for the requests of one client, which numbers them and says which answers it has. So hardly more is
 * remembered than what is under way, however many requests there are.
 */
export class AnswerSeries {
  readonly #all: Answers;
  readonly #known = new Map<number, NumberedAnswer>();
  #sweepAt = SWEEP_MIN;
  /** When its client went away the last time. */
  leftAt = 0;

  constructor(
    all: Answers,
    readonly client: string,
  ) {
    this.#all = all;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Where to send the answer to a request that is new; null if it is known, and will be answered from here. */
  once(number: number, waiting: Waiting): Waiting | null {
    const known = this.#known.get(number);
    if (known !== undefined) {
      known.add(waiting);
      return null;
    }
    if (this.#known.size >= this.#sweepAt || this.#all.hasTooMany) this.#sweep();
    const answer = new NumberedAnswer(this, number, waiting);
    this.#known.set(number, answer);
    this.#all.numbered += 1;
    return answer;
  }

  answered(below: number): void {
    for (const [number, answer] of this.#known) {
      if (number >= below) return; // they are asked for in the order of their numbers
      if (answer.isOpen) continue;
      this.drop(number);
    }
  }

  drop(number: number): void {
    if (!this.#known.delete(number)) return;
    this.#all.numbered -= 1;
    this.#all.forgotten?.(numberedRequest(this.client, number));
  }

  now(): number {
    return this.#all.now();
  }

  /**
   * A client that does not say which answers it has keeps them for the stated time, if there are not too many. Then
   * several go at once, so that the next sweep is not due with the next request.
   */
  #sweep(): void {
    const before = this.now() - this.#all.rememberMs;
    let tooMany = this.#all.hasTooMany ? 1 + (this.#known.size >> 3) : 0;
    for (const [number, { isOpen, answeredAt }] of this.#known) {
      if (isOpen) continue;
      if (answeredAt >= before && tooMany <= 0) break; // later ones are younger, but for a few
      this.drop(number);
      tooMany -= 1;
    }
    this.#sweepAt = Math.max(SWEEP_MIN, 2 * this.#known.size);
  }
}

class NumberedAnswer implements Waiting {
  answeredAt = 0;
  isOpen = true;
  #ok = false;
  #value: unknown = undefined;
  #first: Waiting | null;
  #more: Waiting[] | null = null;

  constructor(
    readonly series: AnswerSeries,
    readonly number: number,
    first: Waiting,
  ) {
    this.#first = first;
  }

  add(waiting: Waiting): void {
    if (this.isOpen) {
      this.#more ??= [];
      this.#more.push(waiting);
    } else this.#tell(waiting);
  }

  resolve(value: unknown): void {
    this.#settle(true, value);
  }

  reject(error: unknown): void {
    if (isRefusal(error)) this.series.drop(this.number);
    this.#settle(false, error);
  }

  #settle(ok: boolean, value: unknown): void {
    this.isOpen = false;
    this.answeredAt = this.series.now();
    this.#ok = ok;
    this.#value = value;
    if (this.#first !== null) this.#tell(this.#first);
    this.#first = null; // an answer is remembered for longer than those who waited for it
    for (const waiting of this.#more ?? []) this.#tell(waiting);
    this.#more = null;
  }

  #tell(waiting: Waiting): void {
    if (this.#ok) waiting.resolve(this.#value);
    else waiting.reject(this.#value);
  }
}
