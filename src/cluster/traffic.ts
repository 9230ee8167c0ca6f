import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/** How many bytes the connections of this process have carried, in both directions: to NATS, to other members, and of its callers. */
export class Traffic {
  readonly #sockets = new Set<Socket>();
  #closedBytes = 0;

  constructor() {
    const opened = (message: unknown) => this.count((message as { readonly socket: Socket }).socket);
    subscribe("net.server.socket", opened);
    subscribe("net.client.socket", opened);
  }

  /** Connections that begin with TLS are told of by no channel. */
  count(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => {
      if (this.#sockets.delete(socket)) this.#closedBytes += bytesOf(socket);
    });
  }

  get bytes(): number {
    let bytes = this.#closedBytes;
    for (const socket of this.#sockets) bytes += bytesOf(socket);
    return bytes;
  }
}

function bytesOf({ bytesRead, bytesWritten }: Socket): number {
  return (bytesRead ?? 0) + (bytesWritten ?? 0);
}

let traffic: Traffic | null = null;

/** That of this process, counted since this was first called. */
export function ownTraffic(): Traffic {
  traffic ??= new Traffic();
  return traffic;
}
