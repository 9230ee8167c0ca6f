import { HeadwaterError } from "../errors.js";
import { openDialed } from "../host/link/index.js";
import { ADMIT, type AnyService } from "../host/service.js";
import type { LoggedJournal } from "../journal/logged-journal.js";
import type { StreamLog } from "../journal/stream/stream-log.js";
import { DOOR } from "../model/door.js";
import { ChangeFeed } from "./change-feed.js";
import type { Gateway } from "./gateway.js";
import { type Hello, LINK_VERSION, messagesIn, type Welcome } from "./links.js";
import { otherVersion, Relay } from "./relay.js";
import type { GatewayMessage, HeadLink, HeadMessage } from "./relayed.js";
import type { LinkEnd } from "./world.js";

export interface HeadParts {
  readonly epoch: number;
  readonly service: AnyService;
  readonly journal: LoggedJournal;
  readonly log: StreamLog;
  readonly soon: (callback: () => void) => void;
  readonly gateway: Gateway;
  /** What this process says of itself, and what links must say of themselves, names aside. */
  readonly hello: Hello;
  readonly onWarning: (text: string) => void;
}

/** The program while this process is the head: it answers the gateway of this process, and gateways that come over links. */
export class Head {
  readonly #parts: HeadParts;
  readonly #links = new Set<LinkEnd<HeadMessage>>();
  readonly #local: HeadLink;
  readonly #changes: ChangeFeed;

  constructor(parts: HeadParts) {
    this.#parts = parts;
    const { service, gateway, hello } = parts;
    const door = service[DOOR];
    this.#changes = new ChangeFeed((changed) => {
      const observation = service.observe(["event"], (fact) => {
        if (fact.kind === "dropped") changed(null);
        else if (!fact.isReadonly) changed([fact.context, fact.method]);
      });
      return () => observation.stop();
    });
    const send = (message: HeadMessage) => gateway.take(message);
    const relay = new Relay(door, gatewayOf(hello.member), send, this.#changes);
    this.#local = { send: (message) => relay.take(message), close: () => relay.close() };
    gateway.attach(this.#local, door.history);
  }

  get epoch(): number {
    return this.#parts.epoch;
  }

  get service(): AnyService {
    return this.#parts.service;
  }

  /** Another process has connected, to send requests or to run events. */
  accept(link: LinkEnd<HeadMessage>, hello: Hello): void {
    const refusal = this.#refusalOf(hello);
    if (refusal !== null)
      return link.tell({ kind: "refused", code: refusal.code, message: refusal.message } satisfies Welcome);
    this.#links.add(link);
    link.onClosed(() => this.#links.delete(link));
    if (hello.role === "host") this.#admit(link, hello.member);
    else this.#relay(link, hello);
  }

  #relay(link: LinkEnd<HeadMessage>, { member, outline }: Hello): void {
    const door = this.#parts.service[DOOR];
    const send = (message: HeadMessage) => link.send(message);
    const relay = new Relay(door, gatewayOf(member), send, this.#changes, () => link.cut());
    relay.isOtherVersion = outline !== this.#parts.hello.outline;
    link.listen({
      aside: () => link.cut(),
      batch: (bytes) => {
        for (const message of messagesIn<GatewayMessage>(bytes)) relay.take(message);
      },
      closed: () => relay.close(),
    });
    link.tell({ kind: "welcome", history: door.history } satisfies Welcome);
  }

  #admit(link: LinkEnd<HeadMessage>, member: string): void {
    const { service, onWarning } = this.#parts;
    service[ADMIT]?.(openDialed(link, member)).catch((error: unknown) => {
      if (this.#links.has(link)) onWarning(`a host of ${member} could not join: ${messageOf(error)}`);
      link.close();
    });
  }

  /** The program ends, the process goes on. What it has taken is answered, if there is time; the rest is for the next head. */
  async end(graceMs: number): Promise<void> {
    const { gateway, service } = this.#parts;
    if (graceMs === 0) this.#disconnect((link) => link.cut());
    await service.stop({ graceMs }).catch(() => {});
    if (graceMs > 0) await new Promise<void>(this.#parts.soon);
    this.#disconnect((link) => link.close()); // when the last answers have left
    gateway.detach(this.#local);
  }

  /** The last message that this head has written. */
  get position(): number {
    return this.#parts.log.last;
  }

  /** Of the log that this head has written. */
  get bytes(): number {
    return this.#parts.log.bytes;
  }

  /** Closes its table. */
  async close(): Promise<void> {
    await this.#parts.journal.close().catch(() => {});
  }

  #disconnect(from: (link: LinkEnd<HeadMessage>) => void): void {
    this.#changes.close();
    this.#local.close();
    for (const link of this.#links) from(link);
  }

  #refusalOf({ version, log, epoch, outline, member, role }: Hello): HeadwaterError | null {
    const { hello, service } = this.#parts;
    if (version !== LINK_VERSION || log !== hello.log || typeof member !== "string")
      return cannotJoin("the head is of another cluster or version");
    if (epoch !== hello.epoch)
      return new HeadwaterError("HW-3105", "this process is the head of another epoch.");
    if (role !== "host") return null;
    if (outline !== hello.outline) return otherVersion("it takes no hosts of this one.");
    return service[ADMIT] === null ? noHosts() : null;
  }
}

/** Under this name a gateway numbers its requests. */
function gatewayOf(member: string): string {
  return `gateway:${member}`;
}

function cannotJoin(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3106",
    `this process cannot be a member of the cluster: ${why}. Run the same program and version everywhere, or give the cluster another name.`,
  );
}

function noHosts(): HeadwaterError {
  return new HeadwaterError("HW-6014", "the head runs all events in one thread, and takes no hosts.");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
