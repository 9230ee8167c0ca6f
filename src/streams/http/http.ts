import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../../errors.js";
import type { PortListener } from "../../server/listen.js";
import { Origins } from "../../server/origin.js";
import { refuse, respond } from "../../server/respond.js";
import type { Granted, StreamService } from "../service/index.js";
import { answer } from "./answer.js";
import { BODY_BYTES_MAX } from "./route.js";
import { StreamSockets } from "./sockets.js";

/** The service over HTTP: what is asked, by method and path, and which scope of a token allows it. */
export class StreamsHttp {
  readonly #service: StreamService;
  readonly #origins: Origins;
  readonly #sockets: StreamSockets;
  #isClosing = false;

  constructor(service: StreamService, listener: PortListener, origins: readonly string[] = []) {
    this.#service = service;
    this.#origins = new Origins(origins, listener.isLocal);
    this.#sockets = new StreamSockets(service, this.#origins, (request) => this.#caller(request));
    listener.open(this.#handle, this.#sockets.upgrade);
  }

  close(): void {
    this.#isClosing = true;
    this.#sockets.close();
  }

  /** Fails as soon as nothing can be kept any more, also without a request that has shown it. */
  async #health(response: ServerResponse): Promise<void> {
    const failure = await this.#service.health();
    if (failure !== null) throw failure;
    respond(response, 200, '{"ok":true}');
  }

  #caller(request: IncomingMessage): Promise<Granted | null> {
    const token = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    return this.#service.granted(token);
  }

  readonly #handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.#answer(request, response).catch((error: unknown) => {
      refuse(request, response, error, 4 * BODY_BYTES_MAX, { "x-content-type-options": "nosniff" });
    });
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isClosing)
      throw new HeadwaterError("HW-1401", "the server is closing and takes no more requests.");
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname === "/healthz") return await this.#health(response);
    const origin = this.#origins.check(request);
    if (origin !== null) allowOrigin(response, origin);
    if (request.method === "OPTIONS" && origin !== null) return void response.writeHead(204).end();
    const granted = await this.#caller(request);
    if (granted === null)
      throw new HeadwaterError(
        "HW-4010",
        "the caller has no token of this service, or one that is revoked or expired.",
      );
    await answer(this.#service, granted, request, response, url);
  }
}

/** A page of an origin that may ask is also told what it may send. */
function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
  response.setHeader("access-control-allow-methods", "GET, POST, PUT, DELETE");
  response.setHeader(
    "access-control-allow-headers",
    "authorization, content-type, content-encoding, idempotency-key, last-event-id",
  );
  response.setHeader("access-control-expose-headers", "x-next");
}
