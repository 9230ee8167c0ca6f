import type { Socket } from "node:net";

/** Cuts connections off whose callers leave what they are sent unread. */
export class UnreadReplies {
  readonly #watched = new WeakSet<Socket>();

  constructor(readonly stallMs: number) {}

  /** Something was sent: if the connection does not take it, it must have taken some by the next look. */
  watch(socket: Socket): void {
    if (socket.writableLength === 0 || this.#watched.has(socket)) return;
    this.#watched.add(socket);
    let before = socket.writableLength;
    const timer = setInterval(() => {
      const left = socket.writableLength;
      if (left > 0 && left < before && !socket.destroyed) {
        before = left;
        return;
      }
      clearInterval(timer);
      this.#watched.delete(socket);
      if (left > 0) socket.destroy();
    }, this.stallMs);
    timer.unref();
  }
}
