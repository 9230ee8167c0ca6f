import type { RawData, WebSocket } from "ws";
import { closeCodeOf, closeReasonOf, failureForm } from "../client/failure.js";
import { fromForm, toForm } from "../client/form.js";
import { PROTOCOL_VERSION, pack, type Terms } from "../client/frames.js";
import { Unpacker } from "../client/unpack.js";
import { Waiting } from "../client/waiting.js";
import { HeadwaterError } from "../errors.js";
import type { Waiting as Asker, Series } from "../model/door.js";
import type { Ask, Calls } from "./call.js";
import type { ServerLimits } from "./limits.js";
import { Outgoing } from "./outgoing.js";
import type { Listener, Session } from "./session.js";
import type { Sessions } from "./sessions.js";
import { TokenWatch } from "./token-watch.js";
import type { Callers } from "./tokens.js";

export interface SocketSurroundings {
  readonly calls: Calls;
  readonly callers: Callers;
  readonly sessions: Sessions;
  readonly limits: ServerLimits;
  /** The socket was closed because of this. */
  readonly refused: (error: HeadwaterError) => void;
}

/** What a message consists of is not nested; arguments are packed by themselves. */
const MESSAGE_DEPTH = 0;
/** Requests that are taken in one go. Their answers leave while the next ones are taken, so both sides have work. */
const REQUESTS_PER_TURN = 128;

/** One client's connection: reads its requests as fast as they are answered, and sends replies and messages. */
export class ClientSocket implements Listener {
  readonly #ws: WebSocket;
  readonly #around: SocketSurroundings;
  readonly #outgoing: Outgoing;
  readonly #frames = new Waiting<Uint8Array>();
  readonly #helloTimer: ReturnType<typeof setTimeout>;
  #watch: TokenWatch | null = null;
  #reading: Unpacker | null = null;
  #session: Session | null = null;
  #series: Series | null = null;
  /** The client has sent requests up to this number over earlier connections. */
  #askedBefore = 0;
  #isWorkingSoon = false;
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
      paced: () => {
        this.#pace();
        this.#workSoon();
      },
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
    if (this.#ws.isPaused) return; // its answer, if there is one, is among what is not being read
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

  /** Has something arrived that was not read yet? */
  get #isBehind(): boolean {
    return this.#frames.length > 0 || (this.#reading !== null && !this.#reading.isDone);
  }

  /** Takes no more from the network while there is something left to read, so that it waits on the client's side. */
  #pace(): void {
    const mayRead = !this.#isBehind && !this.#isFinishing && !this.#outgoing.isStalled;
    if (this.#isOver || mayRead !== this.#ws.isPaused) return;
    if (!mayRead) return this.#ws.pause();
    this.#hasAnswered = true; // it has had no chance to
    this.#ws.resume();
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#hasAnswered = true;
    if (!isBinary)
      return this.end(new HeadwaterError("HW-4014", "a frame is text; this protocol is binary."));
    this.#frames.push(data as Buffer);
    if (!this.#isWorkingSoon) this.#work();
    else this.#pace();
  }

  /** Reads on when what goes on at the moment has ended. */
  #workSoon(): void {
    if (this.#isWorkingSoon || this.#isOver) return;
    this.#isWorkingSoon = true;
    setImmediate(this.#workNow);
  }

  readonly #workNow = (): void => {
    this.#isWorkingSoon = false;
    this.#work();
  };

  #work(): void {
    try {
      let taken = 0;
      while (this.#isReading && !this.#isOver) {
        const reader = this.#reader();
        if (reader === null) break;
        if (taken === REQUESTS_PER_TURN) {
          this.#workSoon();
          break;
        }
        this.#message(reader);
        taken += 1;
      }
    } catch (error) {
      this.end(error instanceof HeadwaterError ? error : new HeadwaterError("HW-4014", String(error)));
    }
    this.#pace();
  }

  /** Where to read the next message, if one has arrived. */
  #reader(): Unpacker | null {
    if (this.#reading !== null && !this.#reading.isDone) return this.#reading;
    const frame = this.#frames.shift();
    this.#reading = frame === undefined ? null : new Unpacker(frame, MESSAGE_DEPTH, true);
    return this.#reading;
  }

  #message(reader: Unpacker): void {
    const from = reader.position;
    const count = reader.list();
    if (count < 2) {
      if (count < 0) reader.next(); // it may not even be MessagePack
      throw new HeadwaterError("HW-4014", "a message is not a list.");
    }
    const request = reader.next();
    const what = reader.next();
    if (typeof request !== "number" || !Number.isSafeInteger(request) || request < 0) throw unknownKind();
    if (typeof what !== "string") throw unknownKind();
    if (request > 0) {
      if (count !== 3) throw unknownKind();
      return this.#request(request, what, reader, from);
    }
    const rest: unknown[] = [];
    for (let i = 2; i < count; i++) rest.push(reader.next());
    this.#other(what, rest);
  }

  #other(what: string, rest: unknown[]): void {
    if (what === "hello" && !this.#hasSaidHello) return this.#hello(rest);
    const session = this.#greeted();
    const [first] = rest;
    if (what === "ack") return this.#around.sessions.acknowledge(session, first);
    if (what === "ping") return this.#pinged(() => this.send(PONG));
    if (what !== "done" || typeof first !== "number" || first < session.doneBelow) throw unknownKind();
    session.doneBelow = first;
    this.#series?.answered(first);
  }

  #greeted(): Session {
    if (this.#session !== null) return this.#session;
    throw new HeadwaterError("HW-4010", "the first message of a connection must say who is calling.");
  }

  #hello([version, secret, token, seen, asked]: unknown[]): void {
    this.#hasSaidHello = true;
    if (version !== PROTOCOL_VERSION) {
      throw new HeadwaterError(
        "HW-4014",
        `the protocol has the version ${PROTOCOL_VERSION}; update the older side.`,
      );
    }
    const { callers, limits } = this.#around;
    callers.grantFor(token).then(
      (grant) => {
        this.#askedBefore = typeof asked === "number" ? asked : Number.POSITIVE_INFINITY;
        if (this.#isOver) return;
        if (grant !== null)
          this.#watch = new TokenWatch(callers, token, grant, limits.tokenMs, (error) => this.end(error));
        this.#welcome(grant?.name ?? null, secret, seen);
      },
      (error: HeadwaterError) => this.end(error),
    );
  }

  #welcome(owner: string | null, secret: unknown, seen: unknown): void {
    const { sessions, limits, callers } = this.#around;
    try {
      if (owner !== null) callers.refuseRevoked(owner); // it may have been in the meantime
      const { session, series, history, resumed, complete } = sessions.open(owner, secret);
      clearTimeout(this.#helloTimer);
      this.#session = session;
      this.#series = series;
      session.doneBelow = 1;
      const { inFlight, bodyBytes: bytes, pingMs } = limits;
      const terms: Terms = { session: session.id, resumed, history, complete, inFlight, bytes, pingMs };
      this.send(pack([0, "welcome", terms]));
      sessions.attach(session, this, resumed ? seen : 0);
    } catch (error) {
      return this.end(error instanceof HeadwaterError ? error : new HeadwaterError("HW-4014", String(error)));
    }
    this.#work();
  }

  #request(request: number, name: string, reader: Unpacker, from: number): void {
    const session = this.#greeted();
    if (request < session.doneBelow) {
      throw new HeadwaterError("HW-4014", `request ${request} came again after it was said to be done.`);
    }
    const length = reader.binaryLength();
    let args: unknown;
    let problem: unknown = null;
    try {
      if (length >= 0) args = fromForm(reader.section(length, this.#around.limits.depth));
    } catch (error) {
      problem = error;
    }
    if (length < 0) {
      reader.next();
      problem = new HeadwaterError("HW-4005", "the arguments are not packed by themselves.");
    }
    const bytes = reader.position - from;
    this.#inFlight += 1;
    this.#inFlightBytes += bytes;
    const reply = new Reply(this, request, name, bytes);
    if (problem !== null) return reply.reject(problem);
    this.#around.calls.call(name, args, this.#askerFor(request), reply);
  }

  #askerFor(request: number): Ask {
    return (asked, waiting) => this.#series?.ask(request, asked, request > this.#askedBefore, waiting);
  }

  /** Something has come of a request. It may be in the middle of the program's work, so nothing else begins here. */
  reply({ request, name, bytes }: Reply, ok: boolean, value: unknown): void {
    this.#inFlight -= 1;
    this.#inFlightBytes -= bytes;
    if (!this.#isOver) {
      const { replyBytes } = this.#around.limits;
      const error = ok ? this.#sendValue(request, name, value, replyBytes) : value;
      if (error !== null) this.#sendError(request, name, error, replyBytes);
    }
    if (this.#isFinishing && this.#inFlight === 0) process.nextTick(() => this.end(null));
    else if (this.#isBehind) this.#workSoon();
  }

  /** What is in the way of sending the value, if something is. */
  #sendValue(request: number, name: string, value: unknown, bytesMax: number): unknown {
    try {
      const form = value === undefined ? UNDEFINED : toForm(value, false);
      if (this.#outgoing.reply(request, true, form, bytesMax)) return null;
    } catch (error) {
      return error;
    }
    return new HeadwaterError(
      "HW-4006",
      `the result of ${name}(…) is larger than ${bytesMax} bytes. The event has been committed.`,
    );
  }

  #sendError(request: number, name: string, error: unknown, bytesMax: number): void {
    if (this.#outgoing.reply(request, false, failureForm(error), bytesMax)) return;
    const why = `the error that ${name}(…) failed with is larger than ${bytesMax} bytes.`;
    this.#outgoing.reply(request, false, failureForm(new HeadwaterError("HW-4006", why)), Infinity);
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
    this.#watch?.stop();
    this.#outgoing.stop();
    if (this.#session !== null) this.#around.sessions.left(this.#session, this);
  }
}

const GOING_AWAY = 1001;
const LINGER_MS = 1000;
const PONG = pack([0, "pong"]);
const UNDEFINED = { $undefined: true };

function unknownKind(): HeadwaterError {
  return new HeadwaterError("HW-4014", "a message is of no known kind.");
}

/** One request that waits for its answer. */
class Reply implements Asker {
  constructor(
    readonly socket: ClientSocket,
    readonly request: number,
    readonly name: string,
    readonly bytes: number,
  ) {}

  resolve(value: unknown): void {
    this.socket.reply(this, true, value);
  }

  reject(error: unknown): void {
    this.socket.reply(this, false, error);
  }
}
