import type { Duplex } from "node:stream";

/** A message of a client: a letter, and what follows its length. */
export interface ClientFrame {
  readonly kind: string;
  readonly body: Buffer;
}

/** The protocol was broken: the connection cannot go on, because the next message cannot be found. */
export class BrokenProtocol extends Error {}

/**
 * The bytes of a connection as messages. Bytes are read from the socket only when a message is asked for, so a client
 * that sends faster than its queries are answered is held back by TCP.
 */
export class Frames {
  readonly #chunks: AsyncIterator<Buffer>;
  #buffered: Buffer = Buffer.alloc(0);

  constructor(stream: Duplex) {
    this.#chunks = stream
      .iterator({ destroyOnReturn: false })
      [Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Bytes that came behind the last message. */
  get bufferedBytes(): number {
    return this.#buffered.length;
  }

  /** The first message has no letter: its length, and then what it says. Null if the client has gone. */
  async startup(bytesMax: number): Promise<Buffer | null> {
    if (!(await this.#has(4))) return null;
    const length = this.#buffered.readInt32BE(0);
    if (length < 8 || length > bytesMax) throw new BrokenProtocol(`a startup message of ${length} bytes`);
    if (!(await this.#has(length))) return null;
    return this.#take(length).subarray(4);
  }

  async next(bytesMax: number): Promise<ClientFrame | null> {
    if (!(await this.#has(5))) return null;
    const length = this.#buffered.readInt32BE(1);
    if (length < 4 || length > bytesMax)
      throw new BrokenProtocol(`a message of ${length} bytes, where at most ${bytesMax} are taken`);
    if (!(await this.#has(1 + length))) return null;
    const frame = this.#take(1 + length);
    return { kind: String.fromCharCode(frame[0] ?? 0), body: frame.subarray(5) };
  }

  /** Stops reading from the stream, which goes on without this. */
  async release(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #has(bytes: number): Promise<boolean> {
    if (this.#buffered.length >= bytes) return true;
    const parts = [this.#buffered];
    for (let length = this.#buffered.length; length < bytes; ) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return false;
      parts.push(value);
      length += value.length;
    }
    this.#buffered = Buffer.concat(parts);
    return true;
  }

  #take(bytes: number): Buffer {
    const taken = this.#buffered.subarray(0, bytes);
    this.#buffered = this.#buffered.subarray(bytes);
    return taken;
  }
}

/** Reads the fields of a message. A field that is cut off breaks the protocol. */
export class FieldReader {
  #at = 0;

  constructor(readonly body: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.body.length;
  }

  int16(): number {
    return this.bytes(2).readInt16BE(0);
  }

  int32(): number {
    return this.bytes(4).readInt32BE(0);
  }

  /** A text up to its zero byte. */
  text(): string {
    const end = this.body.indexOf(0, this.#at);
    if (end < 0) throw new BrokenProtocol("a text without its end");
    const text = this.body.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return text;
  }

  letter(): string {
    return String.fromCharCode(this.bytes(1)[0] ?? 0);
  }

  bytes(count: number): Buffer {
    const end = this.#at + count;
    if (count < 0 || end > this.body.length)
      throw new BrokenProtocol("a field beyond the end of its message");
    const bytes = this.body.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** A count, and so many fields. */
  list<T>(read: (fields: FieldReader) => T): T[] {
    const count = this.int16();
    if (count < 0) throw new BrokenProtocol("a list with less than no fields");
    return Array.from({ length: count }, () => read(this));
  }
}
