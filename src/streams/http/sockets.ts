import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { HeadwaterError } from "../../errors.js";
import type { Origins } from "../../server/origin.js";
import { refuseRaw } from "../../server/respond.js";
import type { Granted, StreamService } from "../service/index.js";
import { BODY_BYTES_MAX } from "./route.js";
import { StreamSocket } from "./socket.js";

const HEARTBEAT_MS = 15_000;
const PATH = "/v1/socket";

/** The WebSockets of the service: lets them in, and asks now and then whether they are still there. */
export class StreamSockets {
  readonly #open = new Set<StreamSocket>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: BODY_BYTES_MAX,
    perMessageDeflate: false, // a few bytes could become gigabytes
    autoPong: false,
  });
  readonly #heartbeat: ReturnType<typeof setInterval>;

  constructor(
    readonly service: StreamService,
    readonly origins: Origins,
    /** The caller that a header names; `null` if it names none. */
    readonly caller: (request: IncomingMessage) => Promise<Granted | null>,
  ) {
    this.#server.on("wsClientError", (_, stream) =>
      refuseRaw(
        stream,
        new HeadwaterError("HW-4005", "what arrived is not a well-formed request for a WebSocket."),
      ),
    );
    this.#heartbeat = setInterval(() => {
      for (const socket of this.#open) socket.heartbeat();
    }, HEARTBEAT_MS).unref();
  }

  readonly upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    this.#granted(request).then(
      (granted) => {
        if (stream.destroyed) return;
        this.#server.handleUpgrade(request, stream, head, (ws) => {
          const socket = new StreamSocket(ws, this.service, granted);
          this.#open.add(socket);
          ws.once("close", () => this.#open.delete(socket));
        });
      },
      (error: unknown) => (error instanceof HeadwaterError ? refuseRaw(stream, error) : stream.destroy()),
    );
  };

  /** Programs send their token with the request; pages of browsers cannot, and send it in their first message. */
  async #granted(request: IncomingMessage): Promise<Granted | null> {
    this.origins.check(request);
    if (request.url !== PATH) throw new HeadwaterError("HW-4004", "there is no socket at this path.");
    if (request.headers.authorization === undefined) return null;
    const granted = await this.caller(request);
    if (granted !== null) return granted;
    throw new HeadwaterError(
      "HW-4010",
      "the caller has no token of this service, or one that is revoked or expired.",
    );
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const socket of this.#open) socket.end(null);
  }
}
