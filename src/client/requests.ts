import { type CodeWith, HeadwaterError } from "../errors.js";
import { cannotTravel, Packer, Queue, toForm } from "../protocol/index.js";

interface Request {
  readonly id: number;
  readonly name: string;
  /** In the form in which they travel. */
  readonly args: readonly unknown[];
  readonly deadline: number;
  /** When it was sent first, in milliseconds of a clock that is never set; `NEVER` before. */
  sentAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

let lastResolve: (value: unknown) => void;
let lastReject: (error: unknown) => void;

/** One function for all requests: a closure for each would cost more than the promise. */
function keepSettlers(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}

/** The server had no room for the request, and has not carried it out: it is to be sent again, as any other request. */
const REFUSED: CodeWith<"refused"> = "HW-4030";
/** The server had no room for the reply: it is to be asked for again, under the same number. */
const HELD_BACK: CodeWith<"unsure"> = "HW-4032";
const IN_FLIGHT_MIN = 4;
const NEVER = -1;
const PAUSE_MS = 10;
const PAUSE_MAX_MS = 1000;

/**
 * Requests that have not been answered. Requests that were sent are resent over a new connection, under the same
 * numbers and in the same order, so that each has its effect once.
 */
export class Requests {
  /** All of them, in the order of their numbers and so of their deadlines. */
  readonly #open = new Map<number, Request>();
  readonly #toSend = new Queue<Request>();
  readonly #packer = new Packer();
  #onTheWay = 0;
  #last: number;
  #lastSent: number;
  /** Below this number, nothing will be sent again, and the server knows. */
  #doneBelow = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Those for which the server had no room, until the pause ends. */
  #refused: Request[] = [];
  #pauseMs = PAUSE_MS;
  /** How many may be under way, if the server had no room for as many as it allows: half as many, and then one more for each answer. */
  #inFlightMax = Number.POSITIVE_INFINITY;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly timeoutMs: number,
    readonly countMax: number,
    /** There is something to send. */
    readonly ready: () => void,
    /** Numbers up to this one were used by an earlier page in the same session. */
    last = 0,
  ) {
    this.#last = last;
    this.#lastSent = last;
  }

  /** The highest number that a request has. */
  get last(): number {
    return this.#last;
  }

  /** The highest number of a request that was ever sent. */
  get lastSent(): number {
    return this.#lastSent;
  }

  add(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#open.size >= this.countMax) {
      throw new HeadwaterError(
        "HW-4022",
        `${name}(…) was not sent: ${this.countMax} requests of this client have no answer yet. Wait for some, or raise ` +
          "`unanswered`.",
      );
    }
    const forms: unknown[] = [];
    for (const arg of args) forms.push(toForm(arg, true));
    if (toForm(name, true) !== name)
      throw cannotTravel("the name of an API function has half of a surrogate pair");
    const promise = new Promise<unknown>(keepSettlers);
    const id = ++this.#last;
    const deadline = performance.now() + this.timeoutMs;
    const resolve = lastResolve;
    const reject = lastReject;
    const request: Request = { id, name, args: forms, deadline, sentAt: NEVER, resolve, reject };
    this.#open.set(id, request);
    this.#toSend.push(request);
    if (this.#timer === undefined) this.#wake();
    return promise;
  }

  /**
   * The next frame: as many requests as the server lets be under way, and as fit. Null if there are none to send. The server keeps
   * answers for `answersMs`, so nothing is sent again after that.
   */
  take(inFlight: number, bytesMax: number, answersMs: number): Uint8Array | null {
    const packer = this.#packer;
    packer.truncate(0);
    const now = Math.floor(performance.now());
    while (this.#onTheWay < Math.min(inFlight, this.#inFlightMax)) {
      const request = this.#toSend.front;
      if (request === undefined) break;
      if (!this.#open.has(request.id)) {
        this.#toSend.shift(); // its time was over before it was its turn
        continue;
      }
      if (request.sentAt !== NEVER && now - request.sentAt > answersMs) {
        this.#toSend.shift();
        this.#settle(request.id)?.reject(tooOld(request.name, answersMs));
        continue;
      }
      const before = packer.length;
      write(packer, request);
      const { length } = packer;
      if (length > bytesMax) {
        packer.truncate(before);
        if (before > 0) break; // it is the next frame's
        this.#toSend.shift();
        this.#settle(request.id)?.reject(tooLarge(request.name, length, bytesMax));
        continue;
      }
      this.#toSend.shift();
      this.#onTheWay += 1;
      if (request.sentAt === NEVER) request.sentAt = now;
      this.#lastSent = Math.max(this.#lastSent, request.id);
    }
    if (packer.length === 0) return null;
    if (packer.length + DONE_BYTES_MAX <= bytesMax) this.#sayDone();
    return packer.take();
  }

  /** Tells the server up to where it need not remember answers, if that is news. Null if not. */
  done(): Uint8Array | null {
    this.#packer.truncate(0);
    this.#sayDone();
    return this.#packer.length === 0 ? null : this.#packer.take();
  }

  answered(id: number, ok: boolean, value: unknown): void {
    this.#onTheWay = Math.max(0, this.#onTheWay - 1);
    if (!ok && value instanceof HeadwaterError) {
      if (value.code === REFUSED || value.code === HELD_BACK)
        return this.#askAgain(id, value.code === REFUSED);
    }
    this.#pauseMs = PAUSE_MS;
    this.#inFlightMax += 1;
    const request = this.#settle(id);
    if (ok) request?.resolve(value);
    else request?.reject(value);
  }

  /** The connection is gone: whatever has no answer is to be sent over the next one. */
  again(): void {
    this.#onTheWay = 0;
    this.#doneBelow = 1; // the next server may not have heard
    this.#toSend.clear();
    this.#endPause();
    for (const request of this.#open.values()) this.#toSend.push(request);
  }

  rejectAll(error: HeadwaterError): void {
    for (const id of [...this.#open.keys()]) this.#settle(id)?.reject(error);
    this.#toSend.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endPause();
  }

  /** After a pause that gets longer as long as nothing else is answered. */
  #askAgain(id: number, wasRefused: boolean): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#refused.push(wasRefused ? this.#renumbered(request) : request);
    if (this.#pause !== undefined) return;
    this.#inFlightMax = Math.max(IN_FLIGHT_MIN, Math.min(this.#inFlightMax, this.#onTheWay) >> 1);
    this.#pause = setTimeout(() => this.#goOn(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MAX_MS);
  }

  /** Under its old number, it would keep the client from saying that it has the answers to later ones. */
  #renumbered(request: Request): Request {
    this.#open.delete(request.id);
    const again = { ...request, id: ++this.#last, sentAt: NEVER };
    this.#open.set(again.id, again);
    return again;
  }

  #goOn(): void {
    const refused = this.#refused;
    this.#endPause();
    const now = performance.now(); // not the clock, which can be set
    for (const request of refused) {
      if (request.deadline > now) this.#toSend.push(request);
      else this.#settle(request.id)?.reject(neverSent(request.name, this.timeoutMs));
    }
    this.ready();
  }

  #endPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#refused = [];
  }

  #sayDone(): void {
    const [oldest = this.#last + 1] = this.#open.keys();
    if (oldest === this.#doneBelow) return;
    this.#doneBelow = oldest;
    this.#packer.list(3);
    this.#packer.number(0);
    this.#packer.text("done");
    this.#packer.number(oldest);
  }

  #settle(id: number): Request | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    return request;
  }

  /** One timer for all: deadlines are in the order of the numbers. */
  #wake(): void {
    this.#timer = undefined;
    const now = performance.now(); // not the clock, which can be set
    for (const { id, name, deadline, sentAt } of this.#open.values()) {
      if (deadline > now) {
        if (deadline !== Number.POSITIVE_INFINITY) {
          this.#timer = setTimeout(() => this.#wake(), Math.min(deadline - now, TIMER_MAX_MS));
        }
        return;
      }
      const why = sentAt === NEVER ? neverSent : tooLate;
      this.#settle(id)?.reject(why(name, this.timeoutMs));
    }
  }
}

function write(packer: Packer, { id, name, args }: Request): void {
  packer.list(3);
  packer.number(id);
  packer.text(name);
  const section = packer.beginSection();
  packer.value(args);
  packer.endSection(section);
}

/** Longer ones go off at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;
const DONE_BYTES_MAX = 16;

function tooLarge(name: string, bytes: number, bytesMax: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4006",
    `the request ${name}(…) has ${bytes} bytes, and the server takes at most ${bytesMax}. It was not sent.`,
  );
}

function tooOld(name: string, answersMs: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4031",
    `${name}(…) was not sent again: it was sent first more than ${answersMs} ms ago, and its answer may be gone. It may have ` +
      "been done or not: ask the service.",
  );
}

function neverSent(name: string, timeoutMs: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4023",
    `${name}(…) was not done: within ${timeoutMs} ms there was no connection to a server that had room for it. Try again later.`,
  );
}

function tooLate(name: string, timeoutMs: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4017",
    `${name}(…) was not answered within ${timeoutMs} ms. It may have been done, may still be done, or not: ask the ` +
      "service before asking for it again.",
  );
}
