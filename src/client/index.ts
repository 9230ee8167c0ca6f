/**
 * The door `headwater/client`: talks to a program that `serve` has made reachable. It runs in browsers and in Node;
 * all it imports from the rest of Headwater are errors and types.
 */

import { HeadwaterError } from "../errors.js";
import type { Client } from "../model/api.js";
import { Connection, type ConnectionState } from "./connection.js";
import { follow, type Published, type PublishedPage } from "./follow.js";
import type { ResumeStorage } from "./resuming.js";
import { type SocketClass, socketUrl } from "./socket.js";
import type { Watch, Watchable } from "./watches.js";

export { HeadwaterError, mayRetry } from "../errors.js";
export type { Client } from "../model/api.js";
export { errorFrom } from "../protocol/index.js";
export type { ConnectionState } from "./connection.js";
export type { Published } from "./follow.js";
export type { ResumeStorage } from "./resuming.js";
export { type Change, type SubscribeOptions, subscribe } from "./subscribe.js";
export type { Watch, Watchable, WatchState } from "./watches.js";

export interface ConnectOptions {
  /** Says who is calling, to a server that has tokens. It never becomes part of an address. */
  readonly token?: string;
  /** How long a request may be without an answer, reconnecting included. 30 seconds unless told otherwise. */
  readonly timeoutMs?: number;
  /** How many requests may be without an answer, those included that the server has no room for yet. */
  readonly unanswered?: number;
  /** How long to wait before the first new attempt after a lost connection; each failure doubles it, up to the most. */
  readonly backoffMs?: number;
  readonly backoffMaxMs?: number;
  /**
   * Where a page leaves its session when it is reloaded: `sessionStorage`. The next page goes on with it: the program sees the same
   * caller, and messages that the last page had not got arrive.
   */
  readonly resume?: ResumeStorage;
  /** The WebSocket class to use, where the platform has none and the package `ws` cannot be loaded. */
  readonly WebSocket?: SocketClass;
}

/** A session with a server. It outlives lost connections. */
export interface ServiceClient<A> {
  /** The functions of the API. Each call is one request, and has its effect once however often it is sent. */
  readonly api: Client<A>;
  readonly state: ConnectionState;
  /**
   * The result of a read-only function, now and whenever it changes: `client.watch(client.api.board, id)`. Watching the same
   * function with equal arguments more than once costs the server nothing more.
   */
  watch<P extends unknown[], R>(call: (...args: P) => Promise<R>, ...args: P): Watch<R>;
  /**
   * The messages of a topic from a number on, each once and in order, over lost connections and restarts of the server:
   * `for await (const { number, message } of client.follow(client.api.news, 1, "rivers"))`. The function of the API calls `since` of
   * the topic. From 0: the messages that are published from now on.
   */
  follow<P extends unknown[], M>(
    call: (from: number, ...args: P) => Promise<PublishedPage<M>>,
    from: number,
    ...args: P
  ): AsyncGenerator<Published<M>>;
  /** What events of this session see as `this.event.caller`; undefined before the first connection. */
  readonly session: string | undefined;
  /** Hears when `state` changes. Returns how to stop. */
  onState(listener: (state: ConnectionState) => void): () => void;
  /** Hears what the service sends to this session, each message once and in order. Returns how to stop. */
  onMessage<M = unknown>(listener: (message: M) => void): () => void;
  /** Hears that the server had ended the session, so that messages may have been missed, and why (HW-4016). */
  onMissed(listener: (why: HeadwaterError) => void): () => void;
  /** Resolves when the session is over for good: with the reason, or with null after `close()`. */
  readonly closed: Promise<HeadwaterError | null>;
  close(): void;
  [Symbol.dispose](): void;
}

const UNANSWERED = 100_000;
const TIMEOUT_MS = 30_000;
const BACKOFF_MS = 50;
const BACKOFF_MAX_MS = 5000;

/** JavaScript itself asks any object for these. */
const NOT_FUNCTIONS = new Set(["then", "toJSON", "constructor", "toString", "valueOf"]);

/** Connects to a server: `const client = connect<typeof api>(server.url)`, then `await client.api.census()`. */
export function connect<A>(url: string, options: ConnectOptions = {}): ServiceClient<A> {
  const listeners = new Set<(message: never) => void>();
  const states = new Set<(state: ConnectionState) => void>();
  const missed = new Set<(why: HeadwaterError) => void>();
  let end: (error: HeadwaterError | null) => void = () => {};
  const over = new Promise<HeadwaterError | null>((resolve) => {
    end = resolve;
  });
  const connection = new Connection({
    url: socketUrl(url),
    token: options.token,
    WebSocket: options.WebSocket,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    unanswered: options.unanswered ?? UNANSWERED,
    backoffMs: options.backoffMs ?? BACKOFF_MS,
    backoffMaxMs: options.backoffMaxMs ?? BACKOFF_MAX_MS,
    resume: options.resume,
    onState: (state) => {
      for (const listener of states) listener(state);
    },
    onMessage: (message) => {
      for (const listener of listeners) listener(message as never);
    },
    onMissed: (why) => {
      for (const listener of missed) listener(why);
    },
    onClosed: end,
  });
  return {
    api: functionsOf(connection) as Client<A>,
    get state() {
      return connection.state;
    },
    get session() {
      return connection.terms?.session;
    },
    watch: (call, ...args) => watchable(call, args).open(),
    follow: (call, from, ...args) => follow((at) => watchable(call, [at, ...args]), from),
    onState: (listener) => added(states, listener),
    onMessage: (listener) => added(listeners, listener),
    onMissed: (listener) => added(missed, listener),
    closed: over,
    close: () => connection.close(),
    [Symbol.dispose]: () => connection.close(),
  };
}

function added<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The functions of all clients. */
const named = new WeakMap<object, { readonly name: string; readonly connection: Connection }>();

/** A function of any client with arguments, to be watched by bindings to frameworks such as `headwater/react`. */
export function watchable<P extends unknown[], R>(
  call: (...args: P) => Promise<R>,
  args: readonly unknown[],
): Watchable<R> {
  const found = named.get(call);
  if (found === undefined) throw notOfAnApi();
  const of = found.connection.watchable(found.name, args);
  return Object.defineProperty(of, "call", { value: call }) as Watchable<R>;
}

function notOfAnApi(): HeadwaterError {
  return new HeadwaterError(
    "HW-4026",
    "what is to be watched is not a function of a client's API. Pass it as it is: `client.watch(client.api.board, id)`.",
  );
}

/** The client knows the API by its type alone; which names there are, the server decides. */
function functionsOf(connection: Connection): object {
  const made = new Map<string, (...args: unknown[]) => Promise<unknown>>();
  return new Proxy(Object.freeze({}), {
    get(_, name) {
      if (typeof name === "symbol" || NOT_FUNCTIONS.has(name)) return undefined;
      let call = made.get(name);
      if (call === undefined) {
        call = (...args) => connection.request(name, args);
        made.set(name, call);
        named.set(call, { name, connection });
      }
      return call;
    },
  });
}
