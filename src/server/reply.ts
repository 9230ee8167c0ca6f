import type { ResultCallbacks } from "../model/door.js";
import type { Called } from "./expected-reply.js";
import { leastBytes } from "./reply-size.js";
import { LARGE_REPLY_BYTES } from "./turns.js";

/** The connection that a request came over. */
interface Connection {
  reply(reply: Reply, ok: boolean, value: unknown): void;
  /** Is there no room for such a reply? */
  holdsBack(value: unknown): boolean;
  /** Calls back when it is the turn of its caller to be sent something large. */
  inTurn(send: () => void): void;
}

/** A request of a connection that has no answer yet, and what it takes until then. */
export class Reply implements ResultCallbacks {
  constructor(
    readonly connection: Connection,
    readonly request: number,
    readonly name: string,
    readonly called: Called | undefined,
    readonly bytes: number,
  ) {}

  resolve(value: unknown): void {
    const isLarge = leastBytes(value, LARGE_REPLY_BYTES) > LARGE_REPLY_BYTES;
    if (!isLarge || this.connection.holdsBack(value)) return this.connection.reply(this, true, value);
    this.connection.inTurn(() => this.connection.reply(this, true, value));
  }

  reject(error: unknown): void {
    this.connection.reply(this, false, error);
  }
}
