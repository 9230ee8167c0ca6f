import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { HeadwaterError } from "../errors.js";
import type { Api } from "../model/api.js";
import { DOOR, type Door } from "../model/door.js";
import { attach } from "./attach.js";
import { Budgets } from "./budgets.js";
import { Calls } from "./call.js";
import { CallerLoads } from "./caller-load.js";
import { Http, type HttpSurroundings } from "./http.js";
import { cannotStart, type ServerLimits } from "./limits.js";
import { listen, type PortListener } from "./listen.js";
import { Refusals, shownPath } from "./log.js";
import { Origins } from "./origin.js";
import { Presence } from "./presence.js";
import { refuseRaw } from "./respond.js";
import { Sessions } from "./sessions.js";
import { ClientSocket } from "./socket.js";
import { Callers, type Tokens } from "./tokens.js";
import { ReadTurns } from "./turns.js";

export interface ServeOptions {
  /**
   * An HTTP server of yours (of Express, Fastify or `node:http`) to attach to, with its own port and limits of connections. Requests
   * below `path` go to the API, all others where they went before. Closing leaves the server as it was.
   */
  readonly server?: HttpServer;
  /** Where the API is on that server: `/headwater` unless told otherwise. */
  readonly path?: string;
  /** 0, the default, takes one that is free. */
  readonly port?: number;
  /** This machine only, unless told otherwise. */
  readonly host?: string;
  /** Who may call. Without them, everybody who can connect. */
  readonly tokens?: Tokens;
  /** Origins of web pages that may call: `["https://example.org"]`. On loopback, pages of the server's own address may, too. */
  readonly origins?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  /** Hears one line about each request and connection that was refused. No line holds a secret or a line break. */
  readonly log?: (line: string) => void;
}

/** A program that can be reached. */
export interface Server {
  readonly url: string;
  readonly port: number;
  /** Refuses a caller from now on, and closes its connections. */
  revoke(name: string): void;
  /**
   * Takes no more requests, answers those it has taken, and closes. What takes longer than `graceMs` is cut off. The
   * program goes on.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A running program. */
interface Reachable {
  readonly [DOOR]: Door;
}

/** Makes the functions of an API reachable over HTTP and WebSocket. Resolves once it listens. */
export async function serve(service: Reachable, api: Api, options: ServeOptions = {}): Promise<Server> {
  const { server } = options;
  const listener = server === undefined ? await listen(options) : attach(server, options);
  try {
    return serveOn(listener, service, api, options);
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** The same at a port that is taken already. */
export function serveOn(
  listener: PortListener,
  service: Reachable,
  api: Api,
  { tokens, origins = [], log = () => {} }: ServeOptions,
): Server {
  const door: Door | undefined = service[DOOR];
  if (door === undefined) {
    throw cannotStart(
      "what it is to serve is not a service that `run` of this copy of headwater has started",
    );
  }
  const { limits, isLocal } = listener;
  const refusals = new Refusals(log);
  refusals.tell(door);
  listener.refusals.tell(door);
  const calls = new Calls(door, api);
  const around: HttpSurroundings = {
    calls,
    loads: new CallerLoads(calls, Math.ceil(limits.inFlightBytes / FIRST_REQUESTS)),
    callers: new Callers(tokens),
    origins: new Origins(origins, isLocal),
    limits,
    budgets: new Budgets(limits),
    turns: new ReadTurns(),
    refusals,
  };
  const presence = api.sessions ? new Presence(door, api.program, api.sessions, limits.awayMs) : null;
  const sessions = new Sessions(door, limits, around.budgets.messages, refusals, presence);
  const http = new Http(around);
  const sockets = new Sockets(around, sessions);
  listener.open(http.handle, sockets.upgrade);
  if (tokens === undefined && !isLocal) {
    log("other machines can connect, and without tokens everybody who can may call");
  }
  const close: Server["close"] = async ({ graceMs = GRACE_MS } = {}) => {
    http.close();
    sockets.finish();
    await listener.finish(graceMs, {
      isBusy: (socket) => http.isAnswering(socket) || sockets.has(socket),
      terminate: () => sockets.terminate(),
    });
    sessions.leaveAll();
  };
  return {
    url: listener.url,
    port: listener.port,
    revoke: (name) => {
      around.callers.revoke(name);
      const error = new HeadwaterError("HW-4011", "the token of this caller was revoked. Ask for a new one.");
      sessions.endAll(error, ({ owner }) => owner === name);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

const GRACE_MS = 5000;
/** So many requests of a new caller may be under way on each connection, however large the replies to other callers are. */
const FIRST_REQUESTS = 32;

/** The WebSocket side: lets connections in and asks now and then whether they are still there. */
class Sockets {
  readonly #open = new Map<Duplex, ClientSocket>();
  readonly #around: HttpSurroundings;
  readonly #sessions: Sessions;
  readonly #server: WebSocketServer;
  readonly #heartbeat: ReturnType<typeof setInterval>;

  constructor(around: HttpSurroundings, sessions: Sessions) {
    this.#around = around;
    this.#sessions = sessions;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: around.limits.bodyBytes,
      perMessageDeflate: false, // a few bytes could become gigabytes
      autoPong: false,
    });
    this.#server.on("wsClientError", (_, stream) => {
      around.refusals.note("refused a socket", { what: "socket", code: "HW-4005" });
      refuseRaw(
        stream,
        new HeadwaterError("HW-4005", "what arrived is not a well-formed request for a WebSocket."),
      );
    });
    this.#heartbeat = setInterval(() => {
      for (const socket of this.#open.values()) socket.heartbeat();
    }, around.limits.pingMs);
    this.#heartbeat.unref();
  }

  readonly upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    try {
      this.#around.origins.check(request);
      if (request.url !== "/socket") {
        throw new HeadwaterError("HW-4004", `there is no socket at ${shownPath(request.url)}.`);
      }
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      const target = shownPath(request.url);
      this.#around.refusals.note(`refused a socket at ${target}`, {
        what: "socket",
        code: error.code,
        target,
      });
      return refuseRaw(stream, error);
    }
    this.#server.handleUpgrade(request, stream, head, (ws) => {
      const address = request.socket.remoteAddress;
      const refused = ({ code }: HeadwaterError) =>
        this.#around.refusals.note(`closed a socket of ${address}`, { what: "socket", code, from: address });
      const socket = new ClientSocket(ws, { ...this.#around, sessions: this.#sessions, address, refused });
      this.#open.set(stream, socket);
      ws.once("close", () => this.#open.delete(stream));
    });
  };

  has(stream: Duplex): boolean {
    return this.#open.has(stream);
  }

  /** Lets no more in; open ones are closed when their requests are answered. */
  finish(): void {
    clearInterval(this.#heartbeat);
    for (const socket of this.#open.values()) socket.finish();
  }

  terminate(): void {
    for (const socket of this.#open.values()) socket.end(null);
  }
}
