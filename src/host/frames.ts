import type { Socket } from "node:net";
import { HeadwaterError } from "../errors.js";
import type { Aside } from "./host-link.js";

/**
 * Batches and asides on a socket: each frame is its length, what it is, and its bytes. A length beyond the limit is
 * refused before anything is kept for it.
 */
const HEAD_BYTES = 5;
const [BATCH, ASIDE] = [0, 1];

export const FRAME_BYTES_MAX = 2 ** 28;

export function writeBatch(socket: Socket, bytes: Uint8Array): void {
  writeFrame(socket, BATCH, bytes);
}

export function writeAside(socket: Socket, aside: Aside): void {
  writeFrame(socket, ASIDE, Buffer.from(JSON.stringify(aside)));
}

function writeFrame(socket: Socket, what: number, bytes: Uint8Array): void {
  if (bytes.length > FRAME_BYTES_MAX) throw tooLong(bytes.length);
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt8(what, 4);
  socket.cork();
  socket.write(head);
  socket.write(bytes);
  socket.uncork();
}

/** Puts together what arrives in pieces. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the frame that is arriving, its head included; null if not even that is there. */
  #length: number | null = null;

  constructor(
    readonly batch: (bytes: Uint8Array) => void,
    readonly aside: (aside: Aside) => void,
  ) {}

  read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes >= (this.#length ?? HEAD_BYTES)) {
      if (this.#length === null) this.#measure();
      else this.#take(this.#length);
    }
  }

  #measure(): void {
    const length = this.#joined().readUInt32LE(0);
    if (length > FRAME_BYTES_MAX) throw tooLong(length);
    this.#length = HEAD_BYTES + length;
  }

  #take(length: number): void {
    const joined = this.#joined();
    const frame = joined.subarray(HEAD_BYTES, length);
    const what = joined.readUInt8(4);
    this.#chunks = [joined.subarray(length)];
    this.#bytes -= length;
    this.#length = null;
    if (what === BATCH) this.batch(frame);
    else if (what === ASIDE) this.aside(JSON.parse(frame.toString("utf8")) as Aside);
    else throw new HeadwaterError("HW-6005", `a frame between hosts is of kind ${what}, which there is not.`);
  }

  #joined(): Buffer {
    const [first, second] = this.#chunks;
    if (first !== undefined && second === undefined) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

function tooLong(length: number): HeadwaterError {
  return new HeadwaterError(
    "HW-6005",
    `a frame between hosts has ${length} bytes; ${FRAME_BYTES_MAX} is the most. Pass and keep less at a time.`,
  );
}
