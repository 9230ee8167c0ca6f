import { once } from "node:events";
import type { Duplex } from "node:stream";

const CHUNK_BYTES = 64 * 1024;

/** The client has gone, or takes nothing. */
export class Unreadable extends Error {}

/**
 * What goes to a client: messages are gathered and written in chunks. A client that does not read holds up its own
 * connection only, and is disconnected when it has taken nothing for `stalledMs`.
 */
export class Output {
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(
    readonly stream: Duplex,
    readonly stalledMs: number,
  ) {}

  async write(message: Buffer): Promise<void> {
    this.#parts.push(message);
    this.#bytes += message.length;
    if (this.#bytes >= CHUNK_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#parts.length === 0) return;
    const chunk = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (this.stream.destroyed) throw new Unreadable("the client has gone");
    if (this.stream.write(chunk)) return;
    const limit = AbortSignal.timeout(this.stalledMs);
    const gone = new AbortController();
    const close = () => gone.abort();
    this.stream.once("close", close);
    try {
      await once(this.stream, "drain", { signal: AbortSignal.any([limit, gone.signal]) });
    } catch {
      throw new Unreadable(limit.aborted ? "the client does not read" : "the client has gone");
    } finally {
      this.stream.off("close", close);
    }
  }
}
