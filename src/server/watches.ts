import { createHash } from "node:crypto";
import { HeadwaterError, mayRetry } from "../errors.js";
import type { WatchedRequest } from "../model/door.js";
import type { Share } from "../model/share.js";
import { failureForm, fromForm, Packer, toForm, Unpacker } from "../protocol/index.js";
import type { Calls } from "./call.js";
import type { GoOn, InFlight } from "./in-flight.js";
import type { ServerLimits } from "./limits.js";
import type { Outgoing } from "./outgoing.js";
import { tooLarge } from "./replies.js";
import { leastBytes } from "./reply-size.js";
import { unknownKind } from "./socket-errors.js";

/** What a watch takes besides its arguments: what it depends on, and where it stands. */
const WATCH_BYTES = 4096;
/** Small values are sent in any case. */
const SMALL_BYTES = 4096;
/** So long after a refusal that may pass, the value is asked for again. */
const AGAIN_MS = 1000;

interface Watch {
  readonly id: number;
  readonly name: string;
  /** Packed: the program gets arguments of its own each time. */
  readonly args: Uint8Array;
  readonly bytes: number;
  /** What the client has, by the hash of its bytes. */
  tag: string;
  /** Is the value that was sent last the newest? */
  isStale: boolean;
  /** Has the client got what was sent last? It is sent nothing new before. */
  isTaken: boolean;
  /** Counts the evaluations; null while none is under way. */
  running: number | null;
  /** Does the client know whether what it has is the newest? After a reconnection it does not. */
  isConfirmed: boolean;
  request: WatchedRequest | null;
  retry: ReturnType<typeof setTimeout> | undefined;
}

interface Around {
  readonly calls: Calls;
  readonly limits: ServerLimits;
  readonly inFlight: InFlight;
  readonly outgoing: Outgoing;
  readonly share: Share;
  readonly client: string;
  /** An evaluation has ended: there may be room for a request. */
  readonly ended: () => void;
}

/**
 * The results of read-only functions that a client watches over one connection. A result is computed again only when a context that it
 * depends on has changed, and only when the client has got the last one and its caller's share has room: so a client gets the newest
 * value as fast as it reads, values in between are left out, and at most one value per watch is under way.
 */
export class WatchedResults {
  readonly #around: Around;
  readonly #watches = new Map<number, Watch>();
  /** Those to be computed, the first ones first. */
  readonly #due = new Set<Watch>();
  readonly #packer = new Packer();
  #isWorkingSoon = false;
  #isOver = false;
  #evaluations = 0;

  constructor(around: Around) {
    this.#around = around;
  }

  /** Takes a message of the client, if it is about watching. */
  take(what: string, rest: readonly unknown[]): boolean {
    if (what === "watch") this.#open(rest);
    else if (what === "got") this.#got(rest[0]);
    else if (what === "unwatch") this.#close(rest[0]);
    else return false;
    return true;
  }

  /** The client watches the result of a function from now on. `tag`: what it has of it from an earlier connection. */
  #open([id, name, args, tag]: readonly unknown[]): void {
    if (!isId(id) || typeof name !== "string" || !(args instanceof Uint8Array) || typeof tag !== "string")
      throw unknownKind();
    if (this.#watches.has(id)) throw new HeadwaterError("HW-4014", `watch ${id} is open already.`);
    const bytes = args.length + WATCH_BYTES;
    const watch: Watch = {
      id,
      name,
      args: args.slice(),
      bytes,
      tag,
      isStale: true,
      isTaken: true,
      running: null,
      isConfirmed: false,
      request: null,
      retry: undefined,
    };
    const { limits, share } = this.#around;
    if (this.#watches.size >= limits.watches || !share.tryTake(bytes))
      return this.#refuse(watch, tooMany(name, limits.watches));
    this.#watches.set(id, watch);
    this.#isDue(watch);
  }

  /** The client has got the last value. */
  #got(id: unknown): void {
    const watch = this.#watches.get(id as number);
    if (watch === undefined) return; // it was closed in the meantime
    watch.isTaken = true;
    this.#isDue(watch);
  }

  #close(id: unknown): void {
    const watch = this.#watches.get(id as number);
    if (watch !== undefined) this.#end(watch);
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#around.inFlight.load.forget(this.#goOn.withRoom, this.#goOn.inTurn);
    for (const watch of [...this.#watches.values()]) this.#end(watch);
  }

  #end(watch: Watch): void {
    this.#watches.delete(watch.id);
    this.#due.delete(watch);
    clearTimeout(watch.retry);
    watch.request?.stop();
    watch.request = null;
    this.#around.share.give(watch.bytes);
  }

  /** Computes the value if it is stale, nothing is under way, and the client has the last one. */
  #isDue(watch: Watch): void {
    if (!watch.isStale || !watch.isTaken || watch.running !== null || watch.retry !== undefined) return;
    this.#due.add(watch);
    if (this.#isWorkingSoon || this.#isOver) return;
    this.#isWorkingSoon = true;
    setImmediate(this.#workNow);
  }

  readonly #workNow = (): void => {
    this.#isWorkingSoon = false;
    this.#work();
  };

  readonly #goOn: GoOn = { withRoom: () => this.#work(), inTurn: () => this.#work() };

  #work(): void {
    const { inFlight, outgoing } = this.#around;
    for (const watch of this.#due) {
      const called = inFlight.load.expected(watch.name);
      if (!inFlight.mayBegin(watch.args.length, called, outgoing.unread, this.#goOn)) return;
      this.#due.delete(watch);
      this.#evaluate(watch, inFlight.begin(watch.args.length, called));
    }
  }

  #evaluate(watch: Watch, taken: number): void {
    const { calls, limits, client, inFlight } = this.#around;
    const evaluation = ++this.#evaluations;
    watch.running = evaluation;
    watch.isStale = false;
    watch.request?.stop();
    watch.request = null;
    const ended = (ok: boolean, value: unknown) => {
      inFlight.end(taken);
      this.#around.ended();
      if (watch.running !== evaluation || !this.#watches.has(watch.id)) return;
      watch.running = null;
      this.#ended(watch, ok, value);
      this.#isDue(watch);
    };
    const waiting = {
      resolve: (value: unknown) => ended(true, value),
      reject: (error: unknown) => ended(false, error),
    };
    let args: unknown;
    try {
      args = fromForm(new Unpacker(watch.args, limits.depth, true).next());
    } catch (error) {
      return waiting.reject(error);
    }
    const changed = () => {
      if (watch.request !== request) return;
      watch.isStale = true;
      this.#isDue(watch);
    };
    let request: WatchedRequest | null = null;
    calls.call(
      watch.name,
      args,
      (asked, settle) => {
        if (!asked.method.readonly) return settle.reject(notReadonly(watch.name, asked.method.name));
        request = calls.door.watch(asked, client, {
          resolve: (value) => settle.resolve(value),
          reject: (error) => settle.reject(error),
          changed,
        });
        watch.request = request;
      },
      waiting,
    );
  }

  #ended(watch: Watch, ok: boolean, value: unknown): void {
    if (!ok && value instanceof HeadwaterError && mayRetry(value)) return this.#later(watch);
    const { inFlight, outgoing, limits } = this.#around;
    const called = inFlight.load.expected(watch.name);
    const room = Math.max(inFlight.roomForReply(outgoing.unread), SMALL_BYTES);
    const least = ok ? leastBytes(value, limits.replyBytes) : 0;
    if (ok && least > limits.replyBytes) return this.#refuse(watch, tooLargeFor(watch, limits));
    if (least > room) {
      called?.replied(least);
      watch.isStale = true; // it is computed again when there is room for it
      return;
    }
    try {
      const form = ok ? toForm(value, false) : failureForm(value);
      const bytes = this.#send(watch, ok, form);
      called?.replied(bytes);
    } catch (error) {
      this.#refuse(watch, error);
    }
  }

  #refuse(watch: Watch, error: unknown): void {
    this.#send(watch, false, failureForm(error));
  }

  /** The program had no room, or is about to stop. */
  #later(watch: Watch): void {
    watch.isStale = true;
    watch.retry = setTimeout(() => {
      watch.retry = undefined;
      this.#isDue(watch);
    }, AGAIN_MS);
    watch.retry.unref();
  }

  /** Sends a value unless the client has it. Returns its size. */
  #send(watch: Watch, ok: boolean, form: unknown): number {
    if (this.#isOver) return 0;
    this.#packer.truncate(0);
    this.#packer.value(form);
    const value = this.#packer.take();
    const { limits, outgoing } = this.#around;
    if (value.length > limits.replyBytes && ok)
      return this.#send(watch, false, failureForm(tooLargeFor(watch, limits)));
    const tag = createHash("sha256")
      .update(ok ? "value" : "error")
      .update(value)
      .digest("base64url")
      .slice(0, 22);
    const isNew = tag !== watch.tag;
    if (!isNew && watch.isConfirmed) return value.length;
    watch.tag = tag;
    watch.isConfirmed = true;
    watch.isTaken = !isNew;
    const packer = this.#packer;
    packer.list(isNew ? 6 : 4);
    for (const part of [0, "value", watch.id, tag]) packer.value(part);
    if (isNew) packer.value(ok);
    if (isNew) packer.raw(value);
    outgoing.send(packer.take());
    return value.length;
  }
}

function isId(id: unknown): id is number {
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0;
}

function tooLargeFor({ name }: Watch, { replyBytes }: ServerLimits): HeadwaterError {
  return tooLarge(name, true, replyBytes);
}

function tooMany(name: string, max: number): HeadwaterError {
  return new HeadwaterError(
    "HW-4013",
    `${name}(…) is not watched: this connection watches ${max} results already, or its caller has used up its share. Stop ` +
      "watching some, or raise the limit `watches` of the server.",
  );
}

function notReadonly(name: string, method: string): HeadwaterError {
  return new HeadwaterError(
    "HW-4025",
    `${name}(…) cannot be watched: its method ${method} may change something, and would run after every change. Mark the method ` +
      "@readonly, or watch another one.",
  );
}
