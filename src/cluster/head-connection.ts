import { HeadwaterError } from "../errors.js";
import type { LogPort } from "../journal/stream/log-port.js";
import { REDIAL_MS } from "./dial.js";
import type { Gateway } from "./gateway.js";
import { type Hello, messagesIn, type Welcome } from "./links.js";
import type { GatewayMessage, HeadMessage } from "./relayed.js";
import type { LinkEnd, MemberWorld } from "./world.js";

export interface HeadConnectionParts {
  readonly port: LogPort;
  readonly world: MemberWorld;
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
  #link: LinkEnd<GatewayMessage> | null = null;
  #isClosed = false;
  /** The head hands over: when its link closes, another one is the head. */
  #isLast = false;

  constructor(parts: HeadConnectionParts) {
    this.#parts = parts;
    void this.#connect();
  }

  /** The head has ended its epoch. What it has answered may be on its way still. */
  handsOver(): void {
    this.#isLast = true;
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.cut();
    if (this.#link !== null) this.#parts.gateway.detach(this.#link);
  }

  async #connect(): Promise<void> {
    const { port, world, member, ended, gateway, hello, refused } = this.#parts;
    const link: LinkEnd<GatewayMessage> | null = await world.dial({
      port,
      member,
      isOver: () => this.#isClosed || this.#isLast,
      refused: ended,
    });
    if (link === null) return;
    link.listen({
      aside: (aside) => {
        const welcome = aside as Welcome;
        if (welcome.kind === "welcome" && !this.#isClosed) gateway.attach(link, welcome.history);
        else if (welcome.kind === "refused") {
          refused(HeadwaterError.restored(welcome.code, welcome.message));
          link.cut(); // asked again as long as it is the head
        }
      },
      batch: (bytes) => {
        for (const message of messagesIn<HeadMessage>(bytes)) gateway.take(message);
      },
      closed: () => {
        gateway.detach(link);
        if (!this.#isClosed && !this.#isLast) port.later(REDIAL_MS / 5, () => void this.#connect());
      },
    });
    this.#link = link;
    link.tell(hello);
  }
}
