import { HeadwaterError } from "../errors.js";
import { toForm } from "./form.js";
import { pack } from "./frames.js";
import { Waiting } from "./waiting.js";

interface Request {
  readonly id: number;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly deadline: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Requests that have not been answered. Those that were sent are sent again over a new connection, under the same
 * numbers and in the same order, so that each has its effect once.
 */
export class Requests {
  /** All of them, in the order of their numbers and so of their deadlines. */
  readonly #open = new Map<number, Request>();
  readonly #toSend = new Waiting<Request>();
  #onTheWay = 0;
  #last = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly timeoutMs: number,
    readonly countMax: number,
  ) {}

  add(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#open.size >= this.countMax) {
      throw new HeadwaterError(
        "HW-4022",
        `${name}(…) was not sent: ${this.countMax} requests of this client have no answer yet. Wait for some, or raise ` +
          "`unanswered`.",
      );
    }
    const packed = pack(args.map((arg) => toForm(arg, true)));
    const id = ++this.#last;
    const bytes = pack([id, toForm(name, true), packed]);
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + this.timeoutMs;
      const request: Request = { id, name, bytes, deadline, resolve, reject };
      this.#open.set(id, request);
      this.#toSend.push(request);
      if (this.#timer === undefined) this.#wake();
    });
  }

  /** Takes the next messages to send: as many as the server lets be under way, and as fit into one frame. */
  take(inFlight: number, bytesMax: number): { messages: Uint8Array[]; length: number } {
    const messages: Uint8Array[] = [];
    let length = 0;
    while (this.#onTheWay < inFlight) {
      const request = this.#toSend.front;
      if (request === undefined) break;
      const { id, name, bytes } = request;
      if (bytes.length > bytesMax) {
        this.#toSend.shift();
        this.#settle(id)?.reject(tooLarge(name, bytes.length, bytesMax));
        continue;
      }
      if (length + bytes.length > bytesMax) break;
      this.#toSend.shift();
      if (!this.#open.has(id)) continue; // its time was over before it was its turn
      this.#onTheWay += 1;
      messages.push(bytes);
      length += bytes.length;
    }
    return { messages, length };
  }

  answered(id: number, ok: boolean, value: unknown): void {
    this.#onTheWay = Math.max(0, this.#onTheWay - 1);
    const request = this.#settle(id);
    if (ok) request?.resolve(value);
    else request?.reject(value);
  }

  /** The connection is gone: whatever has no answer is to be sent over the next one. */
  again(): void {
    this.#onTheWay = 0;
    this.#toSend.clear();
    for (const request of this.#open.values()) this.#toSend.push(request);
  }

  rejectAll(error: HeadwaterError): void {
    for (const id of [...this.#open.keys()]) this.#settle(id)?.reject(error);
    this.#toSend.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  #settle(id: number): Request | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    return request;
  }

  /** One timer for all: deadlines are in the order of the numbers. */
  #wake(): void {
    this.#timer = undefined;
    const now = Date.now();
    for (const { id, name, deadline } of this.#open.values()) {
      if (deadline > now) {
        if (deadline !== Number.POSITIVE_INFINITY) {
          this.#timer = setTimeout(() => this.#wake(), Math.min(deadline - now, TIMER_MAX_MS));
        }
        return;
      }
      this.#settle(id)?.reject(tooLate(name, this.timeoutMs));
    }
  }
}

/** Longer ones go off at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

function tooLarge(name: string, bytes: number, bytesMax: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4006",
    `the request ${name}(…) has ${bytes} bytes, and the server takes at most ${bytesMax}. It was not sent.`,
  );
}

function tooLate(name: string, timeoutMs: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4017",
    `${name}(…) was not answered within ${timeoutMs} ms. It may have been done, may still be done, or not: ask the ` +
      "service before asking for it again.",
  );
}
