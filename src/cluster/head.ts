import type { Socket } from "node:net";
import { HeadwaterError } from "../errors.js";
import type { AnyService } from "../host/service.js";
import type { LoggedJournal } from "../journal/logged-journal.js";
import { DOOR } from "../model/door.js";
import type { Gateway } from "./gateway.js";
import { type Hello, LINK_VERSION, Link } from "./links.js";
import { Relay } from "./relay.js";
import type { GatewayMessage, HeadLink, HeadMessage } from "./relayed.js";

export interface HeadParts {
  readonly epoch: number;
  readonly service: AnyService;
  readonly journal: LoggedJournal;
  readonly gateway: Gateway;
  /** What links must say of themselves. */
  readonly hello: Omit<Hello, "gateway">;
  /** Names the gateway of this process. */
  readonly gatewayName: string;
}

/** The program while this process is the head: it answers the gateway of this process, and gateways that come over links. */
export class Head {
  readonly #parts: HeadParts;
  readonly #links = new Set<Link<GatewayMessage, HeadMessage>>();
  readonly #local: HeadLink;

  constructor(parts: HeadParts) {
    this.#parts = parts;
    const { service, gateway, gatewayName } = parts;
    const door = service[DOOR];
    const relay = new Relay(door, gatewayName, (message) => gateway.take(message));
    this.#local = { send: (message) => relay.take(message), close: () => relay.close() };
    gateway.attach(this.#local, door.history);
  }

  get epoch(): number {
    return this.#parts.epoch;
  }

  get service(): AnyService {
    return this.#parts.service;
  }

  /** A gateway of another process has connected. */
  accept(socket: Socket): void {
    let relay: Relay | null = null;
    const link = new Link<GatewayMessage, HeadMessage>(socket, {
      aside: (aside) => {
        const refusal = this.#refusalOf(aside as Hello);
        if (refusal !== null) {
          link.tell({ kind: "refused", code: refusal.code, message: refusal.message });
        } else if (relay === null) {
          const door = this.#parts.service[DOOR];
          relay = new Relay(door, (aside as Hello).gateway, (message) => link.send(message));
          link.tell({ kind: "welcome", history: door.history });
        }
      },
      message: (message) => {
        if (relay === null) return link.close();
        try {
          relay.take(message);
        } catch {
          link.close();
        }
      },
      closed: () => {
        this.#links.delete(link);
        relay?.close();
      },
    });
    this.#links.add(link);
  }

  /** The program ends, the process goes on. Nothing is answered any more: gateways ask the next head. */
  async stepDown(graceMs: number): Promise<void> {
    const { gateway, service, journal } = this.#parts;
    if (graceMs === 0) this.#disconnect();
    await service.stop({ graceMs }).catch(() => {});
    this.#disconnect();
    gateway.detach(this.#local);
    await journal.close().catch(() => {});
  }

  #disconnect(): void {
    this.#local.close();
    for (const link of this.#links) link.close();
  }

  #refusalOf({ version, log, epoch, outline, gateway }: Hello): HeadwaterError | null {
    const { hello } = this.#parts;
    if (version !== LINK_VERSION || log !== hello.log || typeof gateway !== "string")
      return cannotJoin("the head is of another cluster or version");
    if (outline !== hello.outline) return cannotJoin("the head runs another program than this process has");
    return epoch === hello.epoch
      ? null
      : new HeadwaterError("HW-3105", "this process is the head of another epoch.");
  }
}

function cannotJoin(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3106",
    `this process cannot be a member of the cluster: ${why}. Run the same program and version everywhere, or give the cluster another name.`,
  );
}
