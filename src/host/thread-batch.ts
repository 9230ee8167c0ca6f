import { decode, encode } from "../state/codec.js";

/** Gathers messages, and hands them on as one piece of binary data when the present turn of the event loop is over. */
export class Outbox<M> {
  #messages: M[] = [];

  constructor(readonly post: (bytes: Uint8Array) => void) {}

  send(message: M): void {
    if (this.#messages.push(message) === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    this.post(encode(messages));
  }
}

export function messagesIn<M>(bytes: Uint8Array): readonly M[] {
  return decode(bytes) as M[];
}
