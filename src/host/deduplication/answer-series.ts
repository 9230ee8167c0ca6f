import { type HeadwaterError, isRemembered } from "../../errors.js";
import type { ResultCallbacks } from "../../model/door.js";
import { Lease, type Share } from "../../model/share.js";
import { isSimple } from "../../state/values.js";
import { gone, noRoom, tooLarge } from "./answer-refusals.js";
import type { Answers } from "./answers.js";
import { KEPT_GENERATIONS, ownCopy } from "./kept-answers.js";
import type { RelayedKept } from "./relayed-answers.js";

/** The name of the request to which a client gave this number. */
export function numberedRequest(client: string, number: number): string {
  return `socket:${client}:${number}`;
}

/** What an answer takes besides its value. It takes less memory, but a client that says what it has keeps only a few. */
const NUMBERED_BYTES = 1024;
/** Old answers that go with each new request, so that there is no moment at which many go at once. */
const SWEPT_AT_ONCE = 4;

/**
 * The answers to the requests of one client, which numbers them and says which answers it has. So hardly more is kept than
 * what is under way, however many requests there are. Values are kept here only if no journal has them.
 */
export class AnswerSeries {
  readonly #all: Answers;
  readonly #known = new Map<number, NumberedAnswer>();
  #isFresh = true;
  readonly #lease: Lease;
  #open = 0;
  /** Numbers up to this one are not carried out any more: their answers may have been forgotten. */
  #goneUpTo = 0;
  #highest = 0;
  /** The client has the answers to all requests below this number. */
  #doneBelow = 0;
  #sinceThorough = 0;
  /** The generation of the last answer. */
  #newest = 0;
  /** No answer is of an earlier generation. */
  #oldest = 0;
  /** The client is a gateway, for which answers are kept apart. */
  relayed: RelayedKept | null = null;
  /** In which generation its client went away the last time. */
  leftIn = 0;

  constructor(
    all: Answers,
    readonly client: string,
    readonly share: Share,
  ) {
    this.#all = all;
    this.#lease = new Lease(share);
  }

  get size(): number {
    return this.#known.size;
  }

  /**
   * Where to send the answer to a request that is new; null if it is known or refused, and answered from here. `sentUpTo`:
   * the client says that it has sent requests up to this number over earlier connections; undefined if it does not say.
   * `isRead`: it only reads. Its answer is not kept, unless it asked for something else to be done: then a journal has it.
   */
  once(
    number: number,
    sentUpTo: number | undefined,
    waiting: ResultCallbacks,
    isRead = false,
  ): NumberedAnswer | null {
    this.#all.turnIfDue();
    if (this.#isFresh) this.#begin(sentUpTo);
    if (this.#oldest < this.#all.oldestGeneration) this.#sweep();
    const known = this.#known.get(number);
    if (known?.tellAgain(waiting)) return null;
    const isNew = known === undefined && sentUpTo !== undefined && number > sentUpTo;
    if (!isNew && this.#tellFromStore(number, waiting)) return null;
    const refusal = this.#refusal(number, known);
    if (refusal !== null) {
      waiting.reject(refusal);
      return null;
    }
    if (known !== undefined) this.#drop(number, known); // it failed, and no journal has that: it has changed nothing
    return this.#add(number, waiting, isRead);
  }

  /** A client that comes back after such a time that all its answers would be gone, must not have any request done twice. */
  #begin(sentUpTo: number | undefined): void {
    this.#isFresh = false;
    if (this.#all.generation >= KEPT_GENERATIONS - 1) this.#goneUpTo = sentUpTo ?? 0;
  }

  #add(number: number, waiting: ResultCallbacks, isRead: boolean): NumberedAnswer {
    const answer = new NumberedAnswer(this, number, waiting, isRead);
    this.#known.set(number, answer);
    answer.reserved = this.#all.reserveFor(this.share);
    this.#take(answer, NUMBERED_BYTES + answer.reserved);
    this.#open += 1;
    this.#highest = Math.max(this.#highest, number);
    return answer;
  }

  #refusal(number: number, known: NumberedAnswer | undefined): HeadwaterError | null {
    const { bytesMax, answersMs } = this.#all.limits;
    if (number <= this.#goneUpTo || known?.isDone) return gone(number, answersMs);
    if (this.#hasRoom) return null;
    this.#dropDone();
    return this.#hasRoom ? null : noRoom(bytesMax, answersMs);
  }

  get #hasRoom(): boolean {
    return this.#lease.hasRoomFor(NUMBERED_BYTES + this.#all.reserveFor(this.share));
  }

  #take(answer: NumberedAnswer, bytes: number): void {
    answer.bytes += bytes;
    this.#lease.use(bytes);
  }

  #tellFromStore(number: number, waiting: ResultCallbacks): boolean {
    const kept =
      this.relayed === null
        ? this.#all.store.get(numberedRequest(this.client, number))
        : this.relayed.get(number);
    if (kept === null) return false;
    tell(waiting, kept.ok, kept.value);
    return true;
  }

  /** The client has these answers. */
  answered(below: number): void {
    this.#doneBelow = Math.max(this.#doneBelow, below);
    this.#goneUpTo = Math.max(this.#goneUpTo, below - 1);
    this.#dropDone();
    this.relayed?.answered(below);
  }

  /**
   * Most come in the order of their numbers, so what the client has stands in front. Refused ones come later; they
   * are looked for so seldom that it costs little per request.
   */
  #dropDone(): void {
    this.#sinceThorough += 1;
    const isThorough = this.#sinceThorough * 4 >= this.#known.size;
    if (isThorough) this.#sinceThorough = 0;
    const { store } = this.#all;
    for (const [number, answer] of this.#known) {
      if (number >= this.#doneBelow && !isThorough) return;
      if (number >= this.#doneBelow || answer.isOpen) continue;
      this.#drop(number, answer);
      if (!store.isInMemory && this.relayed === null) store.forget(numberedRequest(this.client, number));
    }
  }

  /** Something has come of a request. Returns what is kept of it here. */
  settled(answer: NumberedAnswer, ok: boolean, value: unknown): unknown {
    this.#open -= 1;
    if ((!ok && !isRemembered(value)) || (answer.isRead && !this.keepsValues)) {
      this.#drop(answer.number, answer);
      return undefined;
    }
    answer.generation = this.#newest = this.#all.generation;
    const bytes = this.#all.roomFor(this.share, value, answer.reserved);
    this.#take(answer, (bytes ?? 0) - answer.reserved);
    if (!this.#all.store.isInMemory) return undefined;
    return bytes === null ? NOT_KEPT : value;
  }

  /** Drops everything if all of it is too old. Returns whether nothing is left. */
  dropAllIfOld(): boolean {
    if (this.#open > 0 || this.#newest >= this.#all.oldestGeneration) return this.#known.size === 0;
    if (this.#known.size > 0) this.#goneUpTo = this.#highest;
    this.#known.clear();
    this.#lease.clear();
    return true;
  }

  /** No request will ask here again. */
  end(): void {
    this.share.leave();
  }

  get keepsValues(): boolean {
    return this.#all.store.isInMemory;
  }

  #drop(number: number, { bytes }: NumberedAnswer): void {
    this.#known.delete(number);
    this.#lease.use(-bytes);
  }

  /** Drops a few of the oldest, if they are too old. */
  #sweep(): void {
    let left = SWEPT_AT_ONCE;
    for (const [number, answer] of this.#known) {
      if (left === 0) return;
      left -= 1;
      if (answer.isOpen) continue;
      if (answer.generation >= this.#all.oldestGeneration) {
        this.#oldest = answer.generation;
        return;
      }
      this.#goneUpTo = Math.max(this.#goneUpTo, number);
      this.#drop(number, answer);
    }
    this.#oldest = this.#all.generation;
  }
}

/** Stands for a value that was too large to be kept. */
const NOT_KEPT = Symbol("not kept");

export class NumberedAnswer implements ResultCallbacks {
  /** What it has taken from its share, and how much of that is for a value that is still to come. */
  bytes = 0;
  reserved = 0;
  generation = 0;
  isOpen = true;
  #ok = false;
  #value: unknown = undefined;
  #first: ResultCallbacks | null;
  #more: ResultCallbacks[] | null = null;

  constructor(
    readonly series: AnswerSeries,
    readonly number: number,
    first: ResultCallbacks,
    readonly isRead: boolean,
  ) {
    this.#first = first;
  }

  /** The gateway that has numbered it, if one has. */
  get gateway(): string {
    return this.series.client;
  }

  /** Tells another caller that asks, now or when there is something to tell. False if that is the journal's to know. */
  tellAgain(waiting: ResultCallbacks): boolean {
    if (this.isOpen) {
      this.#more ??= [];
      this.#more.push(waiting);
      return true;
    }
    if (!this.series.keepsValues) return false;
    if (this.#value === NOT_KEPT) waiting.reject(tooLarge());
    else tell(waiting, this.#ok, ownCopy({ ok: this.#ok, value: this.#value }).value);
    return true;
  }

  /** Has it changed something? */
  get isDone(): boolean {
    return this.#ok;
  }

  resolve(value: unknown): void {
    this.#settle(true, value);
  }

  reject(error: unknown): void {
    this.#settle(false, error);
  }

  /** Could the caller change what is kept, or told to others? */
  #isShared(value: unknown): boolean {
    return (this.series.keepsValues || this.#more !== null) && !isSimple(value);
  }

  #settle(ok: boolean, value: unknown): void {
    this.isOpen = false;
    this.#ok = ok;
    this.#value = this.series.settled(this, ok, value);
    if (this.#first !== null)
      tell(this.#first, ok, this.#isShared(value) ? ownCopy({ ok, value }).value : value);
    this.#first = null; // an answer is kept for longer than its callers
    for (const waiting of this.#more ?? []) tell(waiting, ok, ownCopy({ ok, value }).value);
    this.#more = null;
  }
}

function tell(waiting: ResultCallbacks, ok: boolean, value: unknown): void {
  if (ok) waiting.resolve(value);
  else waiting.reject(value);
}
