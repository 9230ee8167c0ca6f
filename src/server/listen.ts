import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { HeadwaterError } from "../errors.js";
import { Connections } from "./connections.js";
import { connectionsThatFit } from "./descriptors.js";
import { cannotStart, type ServerLimits, serverLimits } from "./limits.js";
import { Refusals } from "./log.js";
import { isLoopback } from "./origin.js";
import { refuse, refuseRaw } from "./respond.js";

export interface ListenOptions {
  readonly port?: number;
  readonly host?: string;
  readonly limits?: Partial<ServerLimits>;
  readonly log?: (line: string) => void;
}

/**
 * A port that a process has taken. It can be taken before the program runs that is to be served there, so that a
 * process that cannot have the port fails before it has touched a journal. Until then, requests are refused with HW-4040.
 */
export interface PortListener {
  readonly http: HttpServer;
  readonly refusals: Refusals;
  readonly limits: ServerLimits;
  readonly url: string;
  readonly port: number;
  /** Can only this machine connect? */
  readonly isLocal: boolean;
  /** Requests and upgrades go there from now on. */
  open(request: OnRequest, upgrade: OnUpgrade): void;
  /** Closes when the last request was answered, or after `graceMs`. */
  finish(graceMs: number, open: OpenSockets): Promise<void>;
  /** Gives the port up at once, with all connections. */
  close(): void;
}

/** The connections that a server still needs while it closes. */
export interface OpenSockets {
  isBusy(socket: Duplex): boolean;
  terminate(): void;
}

export type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;
export type OnUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => void;

/** Resolves once it listens; rejects with HW-4020 if it cannot. */
export async function listen({
  port = 0,
  host = "127.0.0.1",
  limits: given,
  log = () => {},
}: ListenOptions): Promise<PortListener> {
  const limits = serverLimits(given);
  const refusals = new Refusals(log);
  const http = httpServer(limits, refusals);
  const connections = new Connections(http, Math.min(limits.connections, connectionsThatFit()), refusals);
  const tooEarly: OnRequest = (request, response) => {
    refuse(request, response, starting(), 4 * limits.bodyBytes, { connection: "close" });
  };
  const upgradeTooEarly: OnUpgrade = (_, stream) => refuseRaw(stream, starting());
  http.on("request", tooEarly).on("upgrade", upgradeTooEarly);
  const bound = await listening(http, host, port);
  return {
    http,
    refusals,
    limits,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    port: bound,
    isLocal: isLoopback(host),
    open: (request, upgrade) => {
      http.off("request", tooEarly).off("upgrade", upgradeTooEarly);
      http.on("request", request).on("upgrade", upgrade);
    },
    finish: async (graceMs, open) => {
      await connections.drained();
      connections.closeIdle((socket) => open.isBusy(socket));
      const cutOff = setTimeout(() => {
        http.closeAllConnections();
        open.terminate();
      }, graceMs);
      await new Promise<void>((resolve) => http.close(() => resolve())); // when the last connection has closed
      clearTimeout(cutOff);
    },
    close: () => {
      http.close();
      connections.closeIdle(() => false);
    },
  };
}

function starting(): HeadwaterError {
  return new HeadwaterError("HW-4040", "the program is starting and takes no requests yet. Try again.");
}

function httpServer(limits: ServerLimits, refusals: Refusals): HttpServer {
  const { headersMs, requestMs, headerBytes } = limits;
  const http = createServer({
    maxHeaderSize: headerBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.max(10, Math.ceil(headersMs / 4)),
    requireHostHeader: false, // or Node would answer by itself, without a code
  });
  http.on("clientError", (error: Error & { code?: string }, socket: Duplex) => {
    const [ours, status] = errorOfClient(error.code, limits);
    refusals.note("refused a connection", { what: "connection", code: ours.code });
    refuseRaw(socket, ours, status);
  });
  return http;
}

function errorOfClient(
  code: string | undefined,
  limits: ServerLimits,
): [error: HeadwaterError, status: number] {
  if (code === "HPE_HEADER_OVERFLOW") {
    return [new HeadwaterError("HW-4006", `the headers are larger than ${limits.headerBytes} bytes.`), 431];
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const why = `the request did not arrive within ${limits.headersMs} ms (headers) or ${limits.requestMs} ms (all of it).`;
    return [new HeadwaterError("HW-4008", why), 408];
  }
  return [new HeadwaterError("HW-4005", "what arrived is not a well-formed HTTP request."), 400];
}

async function listening(http: HttpServer, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    http.once("error", (cause) => reject(cannotStart(cause.message, cause)));
    try {
      http.listen(port, host, resolve);
    } catch (cause) {
      reject(cannotStart(cause instanceof Error ? cause.message : String(cause), cause));
    }
  });
  return (http.address() as AddressInfo).port;
}
