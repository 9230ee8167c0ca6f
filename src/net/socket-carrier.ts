import type { Socket } from "node:net";
import { HeadwaterError } from "../errors.js";
import type { BatchReceiver, Carrier } from "./carrier.js";

/**
 * Batches and asides on a socket, cut into frames: the length of each, what it is a part of and whether more parts follow,
 * and its bytes. A length beyond the limit is refused before anything is kept for it.
 */
const HEAD_BYTES = 5;
const [BATCH, ASIDE] = [0, 1];
/** Stands beside what it is in all frames but the last of a batch or an aside. */
const MORE = 0x80;

export const FRAME_BYTES_MAX = 2 ** 20;
/** All parts together. Events carry far less; a context that is copied from host to host may be a large one. */
export const JOINED_BYTES_MAX = 2 ** 31;

/** Carries batches and asides over a socket, or a pipe that is one. */
export class SocketCarrier<Aside> implements Carrier<Aside> {
  readonly #socket: Socket;
  readonly #broken: (error: Error) => void;
  readonly #reader: FrameReader<Aside>;

  /** `broken` hears that the other end cannot be understood, or would not understand what was to be sent. */
  constructor(socket: Socket, receiver: BatchReceiver<Aside>, broken: (error: Error) => void) {
    this.#socket = socket;
    this.#broken = broken;
    const reader = new FrameReader(receiver);
    this.#reader = reader;
    socket.on("data", (chunk: Buffer) => this.#orBreak(() => reader.read(chunk)));
  }

  /** The longest batch or aside that is taken. */
  set bytesMax(bytes: number) {
    this.#reader.bytesMax = bytes;
  }

  post(bytes: Uint8Array): void {
    this.#orBreak(() => write(this.#socket, BATCH, bytes));
  }

  tell(aside: Aside): void {
    write(this.#socket, ASIDE, Buffer.from(JSON.stringify(aside)));
  }

  #orBreak(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#broken(error as Error);
    }
  }
}

function write(socket: Socket, what: number, bytes: Uint8Array): void {
  if (bytes.length > JOINED_BYTES_MAX) throw tooLong("a message", bytes.length, JOINED_BYTES_MAX);
  socket.cork();
  let at = 0;
  for (; bytes.length - at > FRAME_BYTES_MAX; at += FRAME_BYTES_MAX) {
    writeFrame(socket, what | MORE, bytes.subarray(at, at + FRAME_BYTES_MAX));
  }
  writeFrame(socket, what, at === 0 ? bytes : bytes.subarray(at));
  socket.uncork();
}

function writeFrame(socket: Socket, what: number, bytes: Uint8Array): void {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt8(what, 4);
  socket.write(head);
  socket.write(bytes);
}

/** Puts together what arrives in pieces. */
export class FrameReader<Aside> {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the frame that is arriving, its head included; null if not even that is there. */
  #length: number | null = null;
  /** The frames of a batch or aside whose last frame has not arrived. */
  #parts: Buffer[] = [];
  #partsBytes = 0;
  /** The longest batch or aside, all its frames together. */
  bytesMax = JOINED_BYTES_MAX;

  constructor(readonly receiver: BatchReceiver<Aside>) {}

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
    const most = Math.min(FRAME_BYTES_MAX, this.bytesMax);
    if (length > most) throw tooLong("a frame", length, most);
    this.#length = HEAD_BYTES + length;
  }

  #take(length: number): void {
    const joined = this.#joined();
    const frame = joined.subarray(HEAD_BYTES, length);
    const what = joined.readUInt8(4);
    this.#chunks = [joined.subarray(length)];
    this.#bytes -= length;
    this.#length = null;
    if ((what & MORE) !== 0) this.#keep(frame);
    else this.#complete(what, this.#parts.length === 0 ? frame : this.#whole(frame));
  }

  #keep(frame: Buffer): void {
    // Many short parts would take more memory than they have bytes.
    if (frame.length !== FRAME_BYTES_MAX)
      throw new HeadwaterError(
        "HW-6005",
        `a frame between hosts has ${frame.length} bytes, and is not the last.`,
      );
    this.#parts.push(frame);
    this.#partsBytes += frame.length;
    if (this.#partsBytes > this.bytesMax) throw tooLong("a message", this.#partsBytes, this.bytesMax);
  }

  #whole(last: Buffer): Buffer {
    const whole = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#partsBytes = 0;
    return whole;
  }

  #complete(what: number, bytes: Buffer): void {
    if (what === BATCH) this.receiver.batch(bytes);
    else if (what === ASIDE) this.receiver.aside(JSON.parse(bytes.toString("utf8")) as Aside);
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

function tooLong(what: string, length: number, most: number): HeadwaterError {
  return new HeadwaterError("HW-6005", `${what} between hosts has ${length} bytes; ${most} is the most.`);
}
