import { HeadwaterError } from "../errors.js";
import type { Address } from "../model/address.js";
import type { MessagesOut, TakenMessages } from "../model/between-logs.js";
import type {
  Asked,
  Door,
  Listening,
  Position,
  ReadCallbacks,
  Refusal,
  RelaySeries,
  ResultCallbacks,
  Series,
  WatchedRequest,
} from "../model/door.js";
import { pathOf } from "../model/path.js";
import type { Payer } from "../model/share.js";
import { encode } from "../state/codec.js";
import { GatewayReads } from "./gateway-reads.js";
import { GatewayListeners } from "./listeners.js";
import type { HeadLink, HeadMessage, RelayedCall, RelayedRequest } from "./relayed.js";
import { Watching } from "./watching.js";

export interface GatewayParts {
  readonly roots: ReadonlyMap<string, Address>;
  readonly isSingle: boolean;
  readonly answersMs: number;
  /** Are messages kept for this client, as far as this process knows? */
  readonly hasClient: (client: string) => boolean;
  readonly refused: (refusal: Refusal) => void;
  readonly failed: (apiFunction: string, error: unknown) => void;
  /** Why this process can take no more requests; null if it can. */
  readonly failure: () => HeadwaterError | null;
}

/** Who sends messages from another log through a gateway. */
export interface CarriedSender {
  readonly connected: () => void;
  readonly taken: (messages: TakenMessages) => void;
}

interface Pending {
  request: RelayedRequest;
  readonly waiting: ResultCallbacks;
  readonly bytes: number;
}

/** Of the arguments of requests that have no answer yet. */
const PENDING_BYTES_MAX = 256 * 2 ** 20;
const PENDING_MAX = 200_000;
/** What a head answers that cannot commit any more: the next head is asked. */
const HEAD_IS_GONE: ReadonlySet<string> = new Set(["HW-1401", "HW-3005", "HW-3006", "HW-3007"]);

/**
 * The program as one process of a cluster sees it. Requests go to the head, wherever that is; those without an answer are sent
 * to the next head again, in order and under the numbers that they had, so each has its effect once.
 */
export class Gateway implements Door {
  readonly roots: ReadonlyMap<string, Address>;
  readonly isSingle: boolean;
  readonly answersMs: number;
  readonly refused: Door["refused"];
  readonly failed: Door["failed"];
  /** What this process hears of the events of others. */
  readonly watching = new Watching((message) => this.#head?.send(message));
  readonly #reads = new GatewayReads((message) => this.#head?.send(message));
  readonly #parts: GatewayParts;
  /** In the order in which they were made. */
  readonly #pending = new Map<number, Pending>();
  readonly #listeners: GatewayListeners;
  readonly #senders = new Set<CarriedSender>();
  /** Per client: the last of its numbers that was sent. */
  readonly #sent = new Map<string, number>();
  #pendingBytes = 0;
  #head: HeadLink | null = null;
  #history: string | null = null;
  #lastNumber = 0;
  /** All requests below this number have their answers. */
  #below = 1;
  /** Requests up to this number may have been sent to earlier heads. */
  #sentUpTo = 0;
  #onHead: (() => void)[] = [];
  #onRest: (() => void)[] = [];

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.roots = parts.roots;
    this.isSingle = parts.isSingle;
    this.answersMs = parts.answersMs;
    this.refused = parts.refused;
    this.failed = parts.failed;
    this.#listeners = new GatewayListeners((message) => this.#head?.send(message), parts.hasClient);
  }

  get history(): string {
    return this.#history ?? "";
  }

  get hasHead(): boolean {
    return this.#head !== null;
  }

  /** Requests that have no answer yet. */
  get unanswered(): number {
    return this.#pending.size;
  }

  async health(): Promise<HeadwaterError | null> {
    return this.#parts.failure() ?? (this.#head === null ? noHead() : null);
  }

  /** Resolves when there is a head. */
  async untilHead(): Promise<void> {
    while (this.#head === null) await new Promise<void>((resolve) => this.#onHead.push(resolve));
  }

  /** Resolves when every request has its answer. */
  async untilAnswered(): Promise<void> {
    while (this.#pending.size > 0) await new Promise<void>((resolve) => this.#onRest.push(resolve));
  }

  /** This is the head from now on. What has no answer is sent to it. */
  attach(head: HeadLink, history: string): void {
    this.#head = head;
    this.#history = history;
    this.#sentUpTo = this.#lastNumber;
    this.#listeners.listenAgain();
    for (const pending of this.#pending.values()) {
      pending.request = this.#again(pending.request);
      head.send(pending.request);
    }
    this.#reads.attached();
    this.watching.attached();
    for (const resolve of this.#onHead.splice(0)) resolve();
    this.#tellSenders(({ connected }) => connected());
  }

  /** Carries messages from another log, whose head is in this process. They get lost while there is no head here. */
  carry(sender: CarriedSender): MessagesOut {
    this.#senders.add(sender);
    return {
      send: (message) => this.#head?.send(message),
      close: () => this.#senders.delete(sender),
    };
  }

  #tellSenders(tell: (sender: CarriedSender) => void): void {
    for (const sender of this.#senders) tell(sender);
  }

  detach(head: HeadLink | null = this.#head): void {
    if (head !== this.#head) return;
    this.#head = null;
    this.watching.detached();
  }

  #again(request: RelayedRequest): RelayedRequest {
    if (request.kind === "ask") return { ...request, sentUpTo: this.#sentUpTo };
    if (request.kind !== "series") return request;
    return { ...request, sentUpTo: Math.max(request.sentUpTo ?? 0, this.#sent.get(request.client) ?? 0) };
  }

  /** Something came from the head. */
  take(message: HeadMessage): void {
    if (message.kind === "told" || message.kind === "unheard") return this.#listeners.take(message);
    if (message.kind === "read" || message.kind === "stale") return this.#reads.take(message);
    if (message.kind === "taken") return this.#tellSenders(({ taken }) => taken(message));
    if (message.kind !== "result") return this.watching.take(message);
    const { n, ok, value } = message;
    const pending = this.#pending.get(n);
    if (pending === undefined) return;
    if (!ok && value instanceof HeadwaterError && HEAD_IS_GONE.has(value.code)) return;
    this.#settle(n, pending);
    if (ok) pending.waiting.resolve(value);
    else pending.waiting.reject(value);
  }

  /** Nothing more is answered: this process leaves the cluster. */
  end(error: HeadwaterError): void {
    this.#head = null;
    this.watching.end();
    this.#reads.end(error);
    for (const [n, pending] of [...this.#pending]) {
      this.#settle(n, pending);
      pending.waiting.reject(error);
    }
  }

  ask(
    asked: Asked,
    client: string | undefined,
    request: string | undefined,
    payer: Payer,
    waiting: ResultCallbacks,
  ): void {
    this.#request(asked, waiting, (n, call) => {
      const common = { n, call, client: client ?? null };
      if (request !== undefined)
        return { ...common, kind: "once", request, payer: [payer.caller, payer.part] };
      return { ...common, kind: "ask", sentUpTo: this.#sentUpTo, below: this.#below };
    });
  }

  series(client: string, payer: Payer): Series {
    return {
      ask: (number, asked, sentUpTo, waiting) => {
        this.#request(asked, waiting, (n, call) => {
          this.#sent.set(client, Math.max(number, this.#sent.get(client) ?? 0));
          const relayed = [payer.caller, payer.part] as const;
          return { kind: "series", n, call, client, number, sentUpTo: sentUpTo ?? null, payer: relayed };
        });
      },
      answered: (below) => this.#head?.send({ kind: "answered", client, below }),
      leave: () => {
        this.#sent.delete(client);
        this.#head?.send({ kind: "leave", client });
      },
    };
  }

  relay(): RelaySeries {
    throw new HeadwaterError("HW-6005", "a gateway relays to a head, and nothing is relayed to it.");
  }

  listen(client: string, onMessage: (message: unknown, from: Position) => void): Listening {
    return this.#listeners.listen(client, onMessage);
  }

  messages(): null {
    return null;
  }

  watch(asked: Asked, client: string | undefined, waiting: ReadCallbacks): WatchedRequest {
    return this.#reads.watch(relayedCall(asked, encode(asked.args)), client, waiting);
  }

  #request(
    asked: Asked,
    waiting: ResultCallbacks,
    make: (n: number, call: RelayedCall) => RelayedRequest,
  ): void {
    const failure = this.#parts.failure();
    if (failure !== null) return waiting.reject(failure);
    if (this.#pending.size >= PENDING_MAX || this.#pendingBytes >= PENDING_BYTES_MAX)
      return waiting.reject(tooMany(this.#pending.size));
    let encoded: Uint8Array;
    try {
      encoded = encode(asked.args);
    } catch (error) {
      return waiting.reject(error);
    }
    this.#lastNumber += 1;
    const request = make(this.#lastNumber, relayedCall(asked, encoded));
    this.#pending.set(request.n, { request, waiting, bytes: encoded.byteLength });
    this.#pendingBytes += encoded.byteLength;
    this.#head?.send(request);
  }

  #settle(n: number, { bytes }: Pending): void {
    this.#pending.delete(n);
    this.#pendingBytes -= bytes;
    while (this.#below <= this.#lastNumber && !this.#pending.has(this.#below)) this.#below += 1;
    if (this.#pending.size === 0) for (const resolve of this.#onRest.splice(0)) resolve();
  }
}

function relayedCall({ target, method }: Asked, args: Uint8Array): RelayedCall {
  return { node: target.node, path: pathOf(target), method: method.name, args };
}

function noHead(): HeadwaterError {
  return new HeadwaterError(
    "HW-3105",
    "the cluster has no head at the moment. Requests wait until it has one.",
  );
}

function tooMany(count: number): HeadwaterError {
  return new HeadwaterError(
    "HW-3105",
    `the cluster has no head at the moment, or that is slow, and ${count} requests of this process wait. Ask again later.`,
  );
}
