import type { Transferable } from "node:worker_threads";
import type { BatchReceiver, Carrier } from "./carrier.js";

/** A thread as its parent has it, or the parent as the thread has it. */
interface Port {
  postMessage(message: unknown, transferred?: readonly Transferable[]): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** Carries batches and asides between threads. Batches are handed over, not copied. */
export class PortCarrier<Aside extends object> implements Carrier<Aside> {
  readonly #port: Port;

  constructor(port: Port) {
    this.#port = port;
  }

  /** From now on; what has come before is given to it, too. */
  listen(receiver: BatchReceiver<Aside>): void {
    this.#port.on("message", (message) => {
      if (message instanceof Uint8Array) receiver.batch(message);
      else receiver.aside(message as Aside);
    });
  }

  post(bytes: Uint8Array): void {
    this.#port.postMessage(bytes, [bytes.buffer as ArrayBuffer]);
  }

  tell(aside: Aside): void {
    this.#port.postMessage(aside);
  }
}
