import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type AddressPolicy, allowedAddresses, checkedLookup } from "./addresses.js";
import type { OutputDefinition } from "./definition.js";
import type { Batched, OutputTarget } from "./target.js";

const ANSWER_CHARACTERS_MAX = 64 * 1024;

/**
 * Rows as lines over one connection that stays open, as in the paper (section 3.2: a target is a host address and a port). With `acks` the
 * receiver answers each row, or each few rows, with a line that holds the number up to which it has them, and rows count as delivered
 * when it did: after a lost connection the rest is sent again, at least once. Without, rows count as delivered when the operating system
 * has taken them, and what it had not handed over when a connection broke is lost.
 */
export class TcpTarget implements OutputTarget {
  readonly format = "ndjson";
  readonly isKeyed = false;
  readonly #url: URL;
  #socket: Socket | null = null;
  #acked = 0;
  #wake: () => void = () => {};

  constructor(
    readonly definition: OutputDefinition,
    readonly policy: AddressPolicy,
  ) {
    this.#url = new URL(definition.target);
  }

  async send(batch: Batched, signal: AbortSignal): Promise<null> {
    const socket = await this.#connected(signal);
    const drop = () => socket.destroy();
    signal.addEventListener("abort", drop, { once: true });
    try {
      await new Promise<void>((resolve, reject) =>
        socket.write(`${batch.lines.join("\n")}\n`, (error) => (error ? reject(error) : resolve())),
      );
      if (this.definition.acks) await this.#ack(socket, batch.next - 1);
      return null;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      signal.removeEventListener("abort", drop);
    }
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    if (this.#socket?.writable === true) return this.#socket;
    const host = this.#url.hostname.replace(/^\[(.*)\]$/, "$1");
    await allowedAddresses(host, this.policy);
    const socket = connect({
      host,
      port: Number(this.#url.port),
      lookup: checkedLookup(this.policy),
      noDelay: true,
    });
    this.#socket = socket;
    this.#acked = 0;
    socket.on("error", () => {}); // the waiting caller hears of the close
    socket.once("close", () => this.#wake());
    this.#listen(socket);
    try {
      await once(socket, "connect", { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  #listen(socket: Socket): void {
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > ANSWER_CHARACTERS_MAX) return void socket.destroy();
      for (const line of lines)
        if (/^\s*\d{1,15}\s*$/.test(line)) this.#acked = Math.max(this.#acked, Number(line));
      this.#wake();
    });
    socket.once("end", () => socket.destroy());
  }

  async #ack(socket: Socket, number: number): Promise<void> {
    while (this.#acked < number) {
      if (socket.destroyed) throw new Error(`the connection ended before row ${number} was acknowledged`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async close(): Promise<void> {
    this.#socket?.destroy();
  }
}
