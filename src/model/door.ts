import type { HeadwaterError } from "../errors.js";
import type { Address } from "./address.js";
import type { MessagesIn, TakenMessages } from "./between-logs.js";
import type { Method } from "./shape.js";
import type { Payer } from "./share.js";

/** Under this name a running service has its door, for servers. */
export const DOOR: unique symbol = Symbol("door");

/**
 * Where a message to a client came from. Messages of one logical node to one client leave in the order of their
 * positions, and a message that has to be handed over again, after a crash, has the position that it had.
 */
export interface Position {
  readonly node: string;
  readonly ticket: number;
  /** Its position among what the event asked for. */
  readonly index: number;
}

/** Who waits for what comes of a request. */
export interface ResultCallbacks {
  /** The trace that the request belongs to, as W3C writes it, where it came with one. */
  trace?: string | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Who waits for the result of a read-only request, and wants to know when the result may have changed since. */
export interface ReadCallbacks extends ResultCallbacks {
  /** Once, after the result. */
  changed(): void;
}

/** A read-only request that says when its result may have changed. */
export interface WatchedRequest {
  stop(): void;
}

/** What is asked of a context. `args` belong to the event from then on. */
export interface Asked {
  readonly target: Address;
  readonly method: Method;
  readonly args: unknown[];
}

/** The requests of one client, which numbers them. One that comes twice under one number has its effect once. */
export interface Series {
  /**
   * `sentUpTo`: the client says that it has sent requests up to this number over earlier connections; undefined if it does not
   * say. Refused with HW-4030 if the answers that are kept for its caller leave no room, with HW-4031 if the answer is gone.
   */
  ask(number: number, asked: Asked, sentUpTo: number | undefined, waiting: ResultCallbacks): void;
  /** The client has the answers to all requests below this number, and will not ask for them again. */
  answered(below: number): void;
  /** The caller is away for the time being. Answers are remembered as long as others are. */
  leave(): void;
}

/** The requests that another process relays for its own callers, numbered by that process. */
export interface RelaySeries {
  ask(
    number: number,
    asked: Asked,
    client: string | undefined,
    sentUpTo: number | undefined,
    waiting: ResultCallbacks,
  ): void;
  answered(below: number): void;
  leave(): void;
}

/** A client that hears messages. */
export interface Listening {
  /**
   * Has the service kept every message to this client that was not received, also those of before it listened? Not if
   * the client was forgotten, or is not known.
   */
  readonly isComplete: boolean;
  /** The client has everything from this logical node up to there; it need not be kept any longer. */
  received(upTo: Position): void;
  /** The client is away for the time being; it may come back and listen again. */
  leave(): void;
  /** The client is gone for good, and with it what is kept for it. */
  forget(): void;
}

/** Something that a server has refused or ended. */
export interface Refusal {
  readonly what: "request" | "connection" | "socket" | "session";
  readonly code: string;
  /** The address from which it came. */
  readonly from: string | null;
  /** The method and path of HTTP. */
  readonly target: string | null;
}

/** What a running program is to a server. */
export interface Door {
  /** The server has refused something; observers of the program hear of it. */
  refused(refusal: Refusal): void;
  /** Positions can be compared only within one history. */
  readonly history: string;
  /** Why the program can commit nothing more; null if it can. It asks the journal. */
  health(): Promise<HeadwaterError | null>;
  /** The root of each logical node. */
  readonly roots: ReadonlyMap<string, Address>;
  /** Is there one logical node without a name of its own? */
  readonly isSingle: boolean;
  /** How long answers are kept at least. */
  readonly answersMs: number;
  /** `request` names it: asked again under the same name, it has its effect once. */
  ask(
    asked: Asked,
    client: string | undefined,
    request: string | undefined,
    payer: Payer,
    waiting: ResultCallbacks,
  ): void;
  /** Makes a read-only request, and says once when its result may have changed since. */
  watch(asked: Asked, client: string | undefined, waiting: ReadCallbacks): WatchedRequest;
  /** A function of the API has failed by itself, apart from its request. */
  failed(apiFunction: string, error: unknown): void;
  series(client: string, payer: Payer): Series;
  /** `gateway` names the process that relays. */
  relay(gateway: string, payer: Payer): RelaySeries;
  /** Takes messages of logical nodes of other logs; `tell` says what became of them. Null if all nodes are in one log. */
  messages(tell: (messages: TakenMessages) => void): MessagesIn | null;
  /** What was kept for the client is told at once, and then whatever is sent to it. */
  listen(client: string, onMessage: (message: unknown, from: Position) => void): Listening;
}
