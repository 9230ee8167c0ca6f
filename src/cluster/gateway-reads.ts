import type { HeadwaterError } from "../errors.js";
import type { ReadCallbacks, WatchedRequest } from "../model/door.js";
import type { GatewayMessage, HeadMessage, RelayedCall } from "./relayed.js";

interface Read {
  readonly message: Extract<GatewayMessage, { readonly kind: "read" }>;
  readonly waiting: ReadCallbacks;
  isAnswered: boolean;
}

/** The reads that clients watch through one process of a cluster. The head says when their results may have changed. */
export class GatewayReads {
  readonly #send: (message: GatewayMessage) => void;
  readonly #reads = new Map<number, Read>();
  #last = 0;

  constructor(send: (message: GatewayMessage) => void) {
    this.#send = send;
  }

  watch(call: RelayedCall, client: string | undefined, waiting: ReadCallbacks): WatchedRequest {
    const id = ++this.#last;
    const message = { kind: "read", id, call, client: client ?? null } as const;
    this.#reads.set(id, { message, waiting, isAnswered: false });
    this.#send(message);
    return {
      stop: () => {
        if (this.#reads.delete(id)) this.#send({ kind: "unread", id });
      },
    };
  }

  /** There is a new head. It does not know what was read before, and anything may have changed in between. */
  attached(): void {
    for (const [id, { message, waiting, isAnswered }] of [...this.#reads]) {
      if (!isAnswered) this.#send(message);
      else if (this.#reads.delete(id)) waiting.changed();
    }
  }

  take(message: Extract<HeadMessage, { readonly kind: "read" | "stale" }>): void {
    const { id } = message;
    const read = this.#reads.get(id);
    if (read === undefined) return;
    if (message.kind === "stale") {
      this.#reads.delete(id);
      return read.waiting.changed();
    }
    read.isAnswered = true;
    if (message.ok) read.waiting.resolve(message.value);
    else read.waiting.reject(message.value);
  }

  end(error: HeadwaterError): void {
    const reads = [...this.#reads.values()];
    this.#reads.clear();
    for (const { waiting, isAnswered } of reads) if (!isAnswered) waiting.reject(error);
  }
}
