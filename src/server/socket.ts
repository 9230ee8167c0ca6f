import type { RawData, WebSocket } from "ws";
import { closeCodeOf, closeReasonOf, failureForm } from "../client/failure.js";
import { fromForm, toForm } from "../client/form.js";
import { PROTOCOL_VERSION, pack, type Terms } from "../client/frames.js";
import { Unpacker } from "../client/unpack.js";
import { Waiting } from "../client/waiting.js";
import { HeadwaterError } from "../errors.js";
import type { Calls } from "./call.js";
import type { ServerLimits } from "./limits.js";
import { Outgoing } from "./outgoing.js";
import type { Listener, Session } from "./session.js";
import type { Sessions } from "./sessions.js";
import type { Callers } from "./tokens.js";

export interface SocketSurroundings {
  readonly calls: Calls;
  readonly callers: Callers;
  readonly sessions: Sessions;
  readonly limits: ServerLimits;
  /** The socket was closed because of this. */
  readonly refused: (error: HeadwaterError) => void;
}

/** A message is a list in which the arguments are packed by themselves. */
const MESSAGE_DEPTH = 1;

/** One client's connection: reads its requests as fast as they are answered, and sends replies and messages. */
export class ClientSocket implements Listener {
  readonly #ws: WebSocket;
  readonly #around: SocketSurroundings;
  readonly #outgoing: Outgoing;
  readonly #frames = new Waiting<Uint8Array>();
  readonly #helloTimer: ReturnType<typeof setTimeout>;
  #reading: Unpacker | null = null;
  #session: Session | null = null;
  #hasSaidHello = false;
  #isOver = false;
  #isFinishing = false;
  #inFlight = 0;
  #inFlightBytes = 0;
  #hasAnswered = true;
  #pings = 0;

  constructor(ws: WebSocket, around: SocketSurroundings) {
    this.#ws = ws;
    this.#around = around;
    const { helloMs, stallMs } = around.limits;
    this.#outgoing = new Outgoing(ws, stallMs, {
      paced: () => this.#work(),
      stalled: (error) => this.end(error),
    });
    this.#helloTimer = setTimeout(() => {
      this.end(new HeadwaterError("HW-4010", `the caller did not say who it is within ${helloMs} ms.`));
    }, helloMs);
    ws.on("message", (data, isBinary) => this.#take(data, isBinary));
    ws.on("ping", (data: Buffer) => this.#pinged(() => ws.pong(data)));
    ws.on("pong", () => {
      this.#hasAnswered = true;
    });
    ws.on("error", (error) => this.#failed(error));
    ws.on("close", () => this.#closed());
  }

  /** Asks whether the client is there, unless it has not answered the last time: then it is given up. */
  beat(): void {
    this.#pings = 0;
    if (!this.#isReading) return; // its answer, if there is one, is among what is not being read
    if (!this.#hasAnswered) return this.#ws.terminate();
    this.#hasAnswered = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  /** Reads no more requests, and closes when those that were read are answered. */
  finish(): void {
    this.#isFinishing = true;
    this.#pace();
    if (this.#inFlight === 0) this.end(null);
  }

  /** Closes the connection, with the reason if there is one to give. */
  end(error: HeadwaterError | null): void {
    if (this.#isOver) return;
    this.#outgoing.flush();
    this.#isOver = true;
    this.#frames.clear();
    this.#reading = null;
    if (error !== null) this.#around.refused(error);
    if (error === null) this.#ws.close(GOING_AWAY);
    else this.#ws.close(closeCodeOf(error), closeReasonOf(error));
    this.#ws.resume(); // or the client's own close would never be read
    const cutOff = setTimeout(() => this.#ws.terminate(), LINGER_MS);
    cutOff.unref();
    this.#ws.once("close", () => clearTimeout(cutOff));
  }

  send(message: Uint8Array): void {
    if (!this.#isOver) this.#outgoing.send(message);
  }

  get #isReading(): boolean {
    const { inFlight, inFlightBytes } = this.#around.limits;
    const isGreeting = this.#hasSaidHello && this.#session === null;
    const hasRoom = this.#inFlight < inFlight && this.#inFlightBytes < inFlightBytes;
    return hasRoom && !isGreeting && !this.#isFinishing && !this.#outgoing.isStalled;
  }

  /** Reads on or stops reading, so that what the client sends waits on its side. */
  #pace(): void {
    if (this.#isOver || this.#isReading !== this.#ws.isPaused) return;
    if (!this.#isReading) return this.#ws.pause();
    this.#hasAnswered = true; // it has had no chance to
    this.#ws.resume();
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#hasAnswered = true;
    if (!isBinary)
      return this.end(new HeadwaterError("HW-4014", "a frame is text; this protocol is binary."));
    this.#frames.push(data as Buffer);
    this.#work();
  }

  #work(): void {
    try {
      while (this.#isReading && !this.#isOver) {
        const message = this.#next();
        if (message === null) break;
        this.#message(message.list, message.bytes);
      }
    } catch (error) {
      this.end(error instanceof HeadwaterError ? error : new HeadwaterError("HW-4014", String(error)));
    }
    this.#pace();
  }

  #next(): { list: unknown[]; bytes: number } | null {
    if (this.#reading === null || this.#reading.isDone) {
      const frame = this.#frames.shift();
      if (frame === undefined) return null;
      this.#reading = new Unpacker(frame, MESSAGE_DEPTH, true);
    }
    const from = this.#reading.position;
    const list = this.#reading.next();
    if (!Array.isArray(list)) throw new HeadwaterError("HW-4014", "a message is not a list.");
    return { list, bytes: this.#reading.position - from };
  }

  #message([request, what, ...rest]: unknown[], bytes: number): void {
    if (request === 0 && what === "hello" && !this.#hasSaidHello) return this.#hello(rest);
    if (this.#session === null) {
      throw new HeadwaterError("HW-4010", "the first message of a connection must say who is calling.");
    }
    const [first] = rest;
    if (
      typeof request === "number" &&
      request > 0 &&
      Number.isSafeInteger(request) &&
      typeof what === "string"
    ) {
      return this.#request(this.#session, request, what, first, bytes);
    }
    if (request === 0 && what === "ack") return this.#around.sessions.acknowledge(this.#session, first);
    if (request === 0 && what === "ping") return this.#pinged(() => this.send(PONG));
    throw new HeadwaterError("HW-4014", "a message is of no known kind.");
  }

  #hello([version, secret, token, seen]: unknown[]): void {
    this.#hasSaidHello = true;
    if (version !== PROTOCOL_VERSION) {
      throw new HeadwaterError(
        "HW-4014",
        `the protocol has the version ${PROTOCOL_VERSION}; update the older side.`,
      );
    }
    this.#around.callers.nameOf(token).then(
      (owner) => {
        if (!this.#isOver) this.#welcome(owner, secret, seen);
      },
      (error: HeadwaterError) => this.end(error),
    );
  }

  #welcome(owner: string | null, secret: unknown, seen: unknown): void {
    const { sessions, limits, callers } = this.#around;
    try {
      if (owner !== null) callers.refuseRevoked(owner); // it may have been in the meantime
      const { session, resumed } = sessions.open(owner, secret);
      clearTimeout(this.#helloTimer);
      this.#session = session;
      const { inFlight, bodyBytes: bytes, pingMs } = limits;
      const terms: Terms = { session: session.id, resumed, inFlight, bytes, pingMs };
      this.send(pack([0, "welcome", terms]));
      sessions.attach(session, this, resumed ? seen : 0);
    } catch (error) {
      return this.end(error instanceof HeadwaterError ? error : new HeadwaterError("HW-4014", String(error)));
    }
    this.#work();
  }

  #request(session: Session, request: number, name: string, packed: unknown, bytes: number): void {
    this.#inFlight += 1;
    this.#inFlightBytes += bytes;
    this.#answer(session, request, name, packed)
      .then((reply) => this.send(reply))
      .finally(() => {
        this.#inFlight -= 1;
        this.#inFlightBytes -= bytes;
        if (this.#isFinishing && this.#inFlight === 0) this.end(null);
        else if (this.#ws.isPaused) this.#work();
      });
  }

  async #answer(session: Session, request: number, name: string, packed: unknown): Promise<Uint8Array> {
    const { calls, limits } = this.#around;
    try {
      const args = unpackedArguments(packed, limits.depth);
      const asker = { client: session.id, request: `socket:${session.id}:${request}` };
      const value = await calls.call(name, args, asker);
      const reply = pack(
        value === undefined ? [request, true, UNDEFINED] : [request, true, toForm(value, false)],
      );
      if (reply.length <= limits.replyBytes) return reply;
      throw new HeadwaterError(
        "HW-4006",
        `the result of ${name}(…) is larger than ${limits.replyBytes} bytes. The event has been committed.`,
      );
    } catch (error) {
      return pack([request, false, failureForm(error)]);
    }
  }

  #pinged(answer: () => void): void {
    this.#hasAnswered = true;
    this.#pings += 1;
    if (this.#isOver) return;
    const { pings, pingMs } = this.#around.limits;
    if (this.#pings > pings) {
      return this.end(new HeadwaterError("HW-4014", `more than ${pings} pings came in ${pingMs} ms.`));
    }
    answer();
  }

  /** The library has found the protocol broken, and closes the socket. */
  #failed(error: Error): void {
    const code = (error as Error & { code?: unknown }).code;
    const isTooLarge =
      code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || code === "WS_ERR_TOO_MANY_BUFFERED_PARTS";
    const ours = isTooLarge
      ? new HeadwaterError(
          "HW-4006",
          `a frame is larger than ${this.#around.limits.bodyBytes} bytes, or in too many parts.`,
        )
      : new HeadwaterError("HW-4014", `a frame is not well formed: ${error.message}.`);
    if (!this.#isOver) this.#around.refused(ours);
    this.#isOver = true;
  }

  #closed(): void {
    this.#isOver = true;
    clearTimeout(this.#helloTimer);
    this.#outgoing.stop();
    if (this.#session !== null) this.#around.sessions.left(this.#session, this);
  }
}

const GOING_AWAY = 1001;
const LINGER_MS = 1000;
const PONG = pack([0, "pong"]);
const UNDEFINED = { $undefined: true };

function unpackedArguments(packed: unknown, depth: number): unknown {
  if (!(packed instanceof Uint8Array))
    throw new HeadwaterError("HW-4005", "the arguments are not packed by themselves.");
  const unpacker = new Unpacker(packed, depth, true);
  const args = fromForm(unpacker.next());
  if (!unpacker.isDone) throw new HeadwaterError("HW-4005", "there is more than a list of arguments.");
  return args;
}
