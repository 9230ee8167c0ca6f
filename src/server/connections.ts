import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { HeadwaterError } from "../errors.js";
import type { Refusals } from "./log.js";
import { refuseRaw } from "./respond.js";

const QUIET_TURNS = 3;
/** A flood of connections does not keep a server from closing. */
const DRAIN_TURNS_MAX = 1000;
/** So many that were refused may linger until they have read why; more are closed without a word. */
const REFUSED_MAX = 32;

/** The TCP connections of a server. One too many is told so and closed; nothing that it says is looked at. */
export class Connections {
  readonly #open = new Set<Socket>();
  /** Connections and requests that have come in. */
  #arrivals = 0;
  #refused = 0;

  constructor(http: HttpServer, countMax: number, refusals: Refusals) {
    const listeners = http.listeners("connection") as ((socket: Socket) => void)[];
    http.removeAllListeners("connection");
    http.on("request", () => {
      this.#arrivals += 1;
    });
    http.on("connection", (socket: Socket) => {
      this.#arrivals += 1;
      if (this.#open.size >= countMax) {
        refusals.note("refused a connection", {
          what: "connection",
          code: "HW-4013",
          from: socket.remoteAddress,
        });
        if (this.#refused >= REFUSED_MAX) return void socket.destroy(); // they take descriptors, too
        this.#refused += 1;
        socket.once("close", () => {
          this.#refused -= 1;
        });
        return refuse(socket, countMax);
      }
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
      for (const listener of listeners) listener.call(http, socket);
    });
  }

  /**
   * Waits until what clients have sent so far was read: closing a connection with unread bytes resets it, and its client
   * would get nothing instead of a refusal. Accepting and reading take a turn of the event loop each.
   */
  async drained(): Promise<void> {
    let quietTurns = 0;
    for (let turns = 0; turns < DRAIN_TURNS_MAX && quietTurns < QUIET_TURNS; turns++) {
      const before = this.#arrivals;
      await turn();
      quietTurns = this.#arrivals === before ? quietTurns + 1 : 0;
    }
  }

  /** Closes idle connections once their last bytes have left. */
  closeIdle(isBusy: (socket: Socket) => boolean): void {
    for (const socket of this.#open) if (!isBusy(socket)) socket.destroySoon();
  }
}

function refuse(socket: Socket, countMax: number): void {
  socket.resume();
  const why = `there are ${countMax} connections already. Try again later.`;
  refuseRaw(socket, new HeadwaterError("HW-4013", why));
}
