import type { Socket } from "node:net";
import { HeadwaterError } from "../errors.js";
import type { LogPort } from "../journal/stream/log-port.js";
import type { Gateway } from "./gateway.js";
import { connectLink, type Hello, Link, type LinkAddress, type Welcome } from "./links.js";
import type { GatewayMessage, HeadMessage } from "./relayed.js";

/** Under this name, a member's address and key are kept. */
export function memberPart(member: string): string {
  return `member.${member}`;
}

export interface HeadConnectionParts {
  readonly port: LogPort;
  readonly gateway: Gateway;
  readonly hello: Hello;
  readonly member: string;
  /** The head's process has ended: its link has closed, and connecting is refused. */
  readonly ended: () => void;
  /** The head lets this process not in. */
  readonly refused: (error: HeadwaterError) => void;
}

const RETRY_MS = 50;

/** Keeps a gateway connected to the head of one epoch, as long as that is the head. */
export class HeadConnection {
  readonly #parts: HeadConnectionParts;
  #link: Link<HeadMessage, GatewayMessage> | null = null;
  #isClosed = false;

  constructor(parts: HeadConnectionParts) {
    this.#parts = parts;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
    if (this.#link !== null) this.#parts.gateway.detach(this.#link);
  }

  async #connect(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const kept = await this.#parts.port.getPart(memberPart(this.#parts.member));
        if (kept !== null)
          return this.#use(await connectLink(JSON.parse(kept.bytes.toString()) as LinkAddress));
      } catch (error) {
        if (isCode(error, "ECONNREFUSED") && !this.#isClosed) this.#parts.ended();
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }

  #use(socket: Socket): void {
    if (this.#isClosed) return void socket.destroy();
    const { gateway, hello, refused } = this.#parts;
    const link = new Link<HeadMessage, GatewayMessage>(socket, {
      aside: (aside) => {
        const welcome = aside as Welcome;
        if (welcome.kind === "welcome" && !this.#isClosed) gateway.attach(link, welcome.history);
        else if (welcome.kind === "refused") refused(HeadwaterError.restored(welcome.code, welcome.message));
      },
      message: (message) => gateway.take(message),
      closed: () => {
        gateway.detach(link);
        if (!this.#isClosed) setTimeout(() => void this.#connect(), RETRY_MS / 5).unref();
      },
    });
    this.#link = link;
    link.tell(hello);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
