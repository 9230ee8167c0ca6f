import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { HeadwaterError } from "../errors.js";
import { refuseRaw } from "./respond.js";

/** The TCP connections of a server. One too many is told so and closed; nothing that it says is looked at. */
export class Connections {
  readonly #open = new Set<Socket>();

  constructor(http: HttpServer, countMax: number, log: (line: string) => void) {
    const listeners = http.listeners("connection") as ((socket: Socket) => void)[];
    http.removeAllListeners("connection");
    http.on("connection", (socket: Socket) => {
      if (this.#open.size >= countMax) {
        log("refused a connection: HW-4013");
        return refuse(socket, countMax);
      }
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
      for (const listener of listeners) listener.call(http, socket);
    });
  }

  /** Closes those that nobody waits at. */
  closeIdle(isBusy: (socket: Socket) => boolean): void {
    for (const socket of this.#open) if (!isBusy(socket)) socket.destroy();
  }
}

function refuse(socket: Socket, countMax: number): void {
  socket.resume();
  const why = `there are ${countMax} connections already. Try again later.`;
  refuseRaw(socket, new HeadwaterError("HW-4013", why));
}
