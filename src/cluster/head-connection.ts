import { HeadwaterError } from "../errors.js";
import type { LogPort } from "../journal/stream/log-port.js";
import { dial, REDIAL_MS } from "./dial.js";
import type { Gateway } from "./gateway.js";
import { type Hello, Link, messagesIn, type Welcome } from "./links.js";
import type { GatewayMessage, HeadMessage } from "./relayed.js";

export interface HeadConnectionParts {
  readonly port: LogPort;
  readonly gateway: Gateway;
  readonly hello: Hello;
  /** The head. */
  readonly member: string;
  /** The head's process has ended: its link has closed, and connecting is refused. */
  readonly ended: () => void;
  /** The head lets this process not in. */
  readonly refused: (error: HeadwaterError) => void;
}

/** Keeps a gateway connected to the head of one epoch, as long as that is the head. */
export class HeadConnection {
  readonly #parts: HeadConnectionParts;
  #link: Link<GatewayMessage> | null = null;
  #isClosed = false;

  constructor(parts: HeadConnectionParts) {
    this.#parts = parts;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.cut();
    if (this.#link !== null) this.#parts.gateway.detach(this.#link);
  }

  async #connect(): Promise<void> {
    const { port, member, ended, gateway, hello, refused } = this.#parts;
    const socket = await dial({ port, member, isOver: () => this.#isClosed, refused: ended });
    if (socket === null) return;
    const link = new Link<GatewayMessage>(socket);
    link.listen({
      aside: (aside) => {
        const welcome = aside as Welcome;
        if (welcome.kind === "welcome" && !this.#isClosed) gateway.attach(link, welcome.history);
        else if (welcome.kind === "refused") refused(HeadwaterError.restored(welcome.code, welcome.message));
      },
      batch: (bytes) => {
        for (const message of messagesIn<HeadMessage>(bytes)) gateway.take(message);
      },
      closed: () => {
        gateway.detach(link);
        if (!this.#isClosed) setTimeout(() => void this.#connect(), REDIAL_MS / 5).unref();
      },
    });
    this.#link = link;
    link.tell(hello);
  }
}
