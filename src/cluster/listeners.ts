import { HeadwaterError } from "../errors.js";
import type { Listening, Position } from "../model/door.js";
import type { GatewayMessage, HeadMessage } from "./relayed.js";

interface Listener {
  readonly onMessage: (message: unknown, from: Position) => void;
  /** Per logical node: the last message that was handed over. The next head hands over again what was not confirmed. */
  readonly last: Map<string, Position>;
}

const LISTEN_AGAIN_MS = 200;

/** The clients that hear messages through one process of a cluster. */
export class GatewayListeners {
  readonly #listeners = new Map<string, Listener>();

  constructor(
    readonly send: (message: GatewayMessage) => void,
    readonly hasClient: (client: string) => boolean,
  ) {}

  listen(client: string, onMessage: Listener["onMessage"]): Listening {
    if (this.#listeners.has(client))
      throw new HeadwaterError(
        "HW-1402",
        `a client named "${client}" is connected already; close that client first.`,
      );
    const isComplete = this.hasClient(client);
    const listener = { onMessage, last: new Map<string, Position>() };
    this.#listeners.set(client, listener);
    this.send({ kind: "listen", client });
    const end = (kind: "unlisten" | "forget") => {
      if (this.#listeners.get(client) !== listener) return;
      this.#listeners.delete(client);
      this.send({ kind, client });
    };
    return {
      isComplete,
      received: ({ node, ticket, index }) => this.send({ kind: "received", client, node, ticket, index }),
      leave: () => end("unlisten"),
      forget: () => end("forget"),
    };
  }

  /** There is a new head. */
  listenAgain(): void {
    for (const client of this.#listeners.keys()) this.send({ kind: "listen", client });
  }

  take(message: Extract<HeadMessage, { readonly kind: "told" | "unheard" }>): void {
    const { client } = message;
    const listener = this.#listeners.get(client);
    if (listener === undefined) return;
    if (message.kind === "unheard") {
      setTimeout(() => {
        if (this.#listeners.get(client) === listener) this.send({ kind: "listen", client });
      }, LISTEN_AGAIN_MS).unref();
      return;
    }
    const { node, ticket, index } = message;
    const last = listener.last.get(node);
    if (last !== undefined && (ticket < last.ticket || (ticket === last.ticket && index <= last.index)))
      return;
    const from = { node, ticket, index };
    listener.last.set(node, from);
    listener.onMessage(message.message, from);
  }
}
