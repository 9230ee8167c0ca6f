import { type OpenLink, offerHost } from "../host/link/index.js";
import type { LogPort } from "../journal/stream/log-port.js";
import { dial } from "./dial.js";
import { type Hello, Link } from "./links.js";

/** The hosts that this process offers to a head elsewhere. */
export interface HostOffer {
  readonly count: number;
  readonly open: OpenLink;
  readonly module: string;
  readonly heapMb: number | undefined;
}

export interface OfferedHostsParts {
  readonly port: LogPort;
  readonly offer: HostOffer;
  readonly hello: Hello;
  /** The head. */
  readonly member: string;
  readonly onWarning: (text: string) => void;
}

const [RETRY_MS_MIN, RETRY_MS_MAX] = [100, 5000];

/** Offers hosts to the head of one epoch, each over a connection of its own, as long as that is the head. */
export class OfferedHosts {
  readonly #parts: OfferedHostsParts;
  readonly #links = new Set<Link<never>>();
  #isClosed = false;

  constructor(parts: OfferedHostsParts) {
    this.#parts = parts;
    for (let i = 0; i < parts.offer.count; i++) void this.#offer(RETRY_MS_MIN);
  }

  /** The head is another one from now on: hosts that worked for the last one end. */
  close(): void {
    this.#isClosed = true;
    for (const link of this.#links) link.cut();
  }

  async #offer(retryMs: number): Promise<void> {
    const { port, member, hello, offer, onWarning } = this.#parts;
    const socket = await dial({ port, member, isOver: () => this.#isClosed });
    if (socket === null) return;
    let nextMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    const link: Link<never> = new Link(socket);
    this.#links.add(link);
    const { open, module, heapMb } = offer;
    offerHost(link, {
      open,
      module,
      heapMb,
      ready: () => {
        nextMs = RETRY_MS_MIN;
      },
      refused: (code, message) => {
        if (code !== "HW-6014") onWarning(`the head takes no hosts from here: ${message}`);
      },
      ended: (isWanted) => {
        this.#links.delete(link);
        if (isWanted && !this.#isClosed) setTimeout(() => void this.#offer(nextMs), retryMs).unref();
      },
    });
    link.tell({ ...hello, role: "host" } satisfies Hello);
  }
}
