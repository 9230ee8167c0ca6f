import type { RawData, WebSocket } from "ws";
import { HeadwaterError } from "../errors.js";
import type { Series } from "../model/door.js";
import { shareOf } from "../model/share.js";
import {
  closeCodeOf,
  closeReasonOf,
  fromForm,
  PROTOCOL_VERSION,
  pack,
  Queue,
  type Terms,
  Unpacker,
} from "../protocol/index.js";
import { type Budgets, callerOf } from "./budgets.js";
import type { Ask, Calls } from "./call.js";
import type { CallerLoads } from "./caller-load.js";
import { type GoOn, InFlight } from "./in-flight.js";
import type { ServerLimits } from "./limits.js";
import { Outgoing } from "./outgoing.js";
import { Replies } from "./replies.js";
import { Reply } from "./reply.js";
import type { Session, SessionListener } from "./session.js";
import type { Sessions } from "./sessions.js";
import { brokenFrame, unknownKind } from "./socket-errors.js";
import { TokenWatch } from "./token-watch.js";
import type { Callers } from "./tokens.js";
import { LARGE_BYTES, type ReadTurns } from "./turns.js";
import { WatchedResults } from "./watches.js";

export interface SocketSurroundings {
  readonly calls: Calls;
  readonly callers: Callers;
  readonly sessions: Sessions;
  readonly limits: ServerLimits;
  readonly budgets: Budgets;
  readonly turns: ReadTurns;
  readonly loads: CallerLoads;
  /** Where the client calls from. */
  readonly address: string | undefined;
  /** The socket was closed because of this. */
  readonly refused: (error: HeadwaterError) => void;
}

/** What a message consists of is not nested; arguments are packed by themselves. */
const MESSAGE_DEPTH = 0;

/** One client's connection: reads its requests as fast as they are answered, and sends replies and messages. */
export class ClientSocket implements SessionListener {
  readonly #ws: WebSocket;
  readonly #around: SocketSurroundings;
  readonly #outgoing: Outgoing;
  readonly #frames = new Queue<Uint8Array>();
  readonly #helloTimer: ReturnType<typeof setTimeout>;
  #watch: TokenWatch | null = null;
  #reading: Unpacker | null = null;
  #session: Session | null = null;
  #series: Series | null = null;
  #caller: string;
  #inFlight: InFlight | null = null;
  #replies: Replies | null = null;
  #watches: WatchedResults | null = null;
  /** The client has sent requests up to this number over earlier connections, if it says so. */
  #sentUpTo: number | undefined;
  #isWorkingSoon = false;
  #hasSaidHello = false;
  #isOver = false;
  #isFinishing = false;
  #isInTurn = false;
  #isAwaitingTurn = false;
  #hasAnswered = true;
  #pings = 0;

  constructor(ws: WebSocket, around: SocketSurroundings) {
    this.#ws = ws;
    this.#around = around;
    this.#caller = callerOf(null, around.address);
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
  heartbeat(): void {
    this.#pings = 0;
    if (this.#ws.isPaused) return; // its answer, if there is one, is among the unread messages
    if (!this.#hasAnswered) return this.#ws.terminate();
    this.#hasAnswered = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  /** Reads no more requests, and closes when the requests that were read are answered. */
  finish(): void {
    this.#isFinishing = true;
    this.#watches?.stop();
    this.#pace();
    if ((this.#inFlight?.count ?? 0) === 0) this.end(null);
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
    const isGreeting = this.#hasSaidHello && this.#session === null;
    return !isGreeting && !this.#isFinishing && !this.#outgoing.isStalled;
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
      let goesOn = true;
      while (goesOn && this.#isReading && !this.#isOver) {
        const reader = this.#reader();
        goesOn = reader !== null && this.#message(reader);
      }
    } catch (error) {
      this.end(error instanceof HeadwaterError ? error : new HeadwaterError("HW-4014", String(error)));
    }
    this.#pace();
  }

  /** Where to read the next message, if one has arrived and may be read now. */
  #reader(): Unpacker | null {
    if (this.#reading !== null && !this.#reading.isDone) return this.#reading;
    const frame = this.#frames.front;
    if (frame === undefined || (frame.length > LARGE_BYTES && !this.#hasTurn())) return null;
    this.#frames.shift();
    this.#reading = new Unpacker(frame, MESSAGE_DEPTH, true);
    return this.#reading;
  }

  /** Is it this connection's turn to read something large? If not, it will be. */
  #hasTurn(): boolean {
    if (this.#isInTurn) {
      this.#isInTurn = false; // for one frame
      return true;
    }
    if (!this.#isAwaitingTurn) {
      this.#isAwaitingTurn = true;
      this.#around.turns.wait(this.#caller, this.#workInTurn);
    }
    return false;
  }

  readonly #workInTurn = (): void => {
    this.#isAwaitingTurn = false;
    this.#isInTurn = true;
    this.#work();
    this.#isInTurn = false;
  };

  /** Reads a message. False if it is a request that cannot begin yet, and that is read another time. */
  #message(reader: Unpacker): boolean {
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
    return true;
  }

  #other(what: string, rest: unknown[]): void {
    if (what === "hello" && !this.#hasSaidHello) return this.#hello(rest);
    const session = this.#greeted();
    const [first] = rest;
    if (what === "ack") return session.acknowledge(first);
    if (what === "ping") return this.#pinged(() => this.send(PONG));
    if (this.#watches?.take(what, rest)) return;
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
        this.#sentUpTo = typeof asked === "number" ? asked : undefined;
        if (this.#isOver) return;
        if (grant !== null)
          this.#watch = new TokenWatch(callers, token, grant, limits.tokenMs, (error) => this.end(error));
        this.#welcome(grant?.name ?? null, secret, seen);
      },
      (error: HeadwaterError) => this.end(error),
    );
  }

  #welcome(owner: string | null, secret: unknown, seen: unknown): void {
    const { sessions, limits, callers, budgets, calls, loads, address } = this.#around;
    try {
      if (owner !== null) callers.refuseRevoked(owner); // it may have been in the meantime
      this.#caller = callerOf(owner, address);
      const { session, series, history, resumed, complete } = sessions.open(owner, this.#caller, secret);
      clearTimeout(this.#helloTimer);
      const share = shareOf(budgets.inFlight, { caller: this.#caller, part: `socket ${++sockets}` });
      this.#inFlight = new InFlight(limits, share, loads.join(this.#caller));
      this.#outgoing.charge(share);
      this.#replies = new Replies(this.#outgoing, this.#inFlight, limits.replyBytes);
      const own = { inFlight: this.#inFlight, outgoing: this.#outgoing, share, ended: this.#hasEnded };
      this.#watches = new WatchedResults({ calls, limits, client: session.id, ...own });
      this.#session = session;
      this.#series = series;
      session.doneBelow = 1;
      const { inFlight, bodyBytes: bytes, pingMs } = limits;
      const [{ answersMs }, { id }] = [calls.door, session];
      const terms: Terms = { session: id, resumed, history, complete, inFlight, bytes, pingMs, answersMs };
      this.send(pack([0, "welcome", terms]));
      sessions.attach(session, this, resumed ? seen : 0);
    } catch (error) {
      return this.end(error instanceof HeadwaterError ? error : new HeadwaterError("HW-4014", String(error)));
    }
    this.#work();
  }

  #request(request: number, name: string, reader: Unpacker, from: number): boolean {
    const session = this.#greeted();
    if (request < session.doneBelow) {
      throw new HeadwaterError("HW-4014", `request ${request} came again after it was said to be done.`);
    }
    const called = this.#inFlight?.load.expected(name);
    const length = reader.binaryLength();
    const size = reader.position - from + Math.max(0, length);
    if (!this.#inFlight?.mayBegin(size, called, this.#outgoing.unread, this.#goOn)) {
      reader.rewind(from);
      return false;
    }
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
    const bytes = this.#inFlight.begin(reader.position - from, called);
    const reply = new Reply(this, request, name, called, bytes);
    if (problem !== null) reply.reject(problem);
    else this.#around.calls.call(name, args, this.#askerFor(request), reply);
    return true;
  }

  readonly #goOn: GoOn = { withRoom: () => this.#work(), inTurn: () => this.#work() };

  #askerFor(request: number): Ask {
    return (asked, waiting) => this.#series?.ask(request, asked, this.#sentUpTo, waiting);
  }

  holdsBack(value: unknown): boolean {
    return this.#replies?.holdsBack(value) ?? true;
  }

  /** A large reply waits for the turn of its caller, as a large request does. */
  inTurn(send: () => void): void {
    this.#around.turns.wait(this.#caller, send);
  }

  /** Something has come of a request. It may be in the middle of the program's work, so nothing else begins here. */
  reply({ request, name, called, bytes }: Reply, ok: boolean, value: unknown): void {
    this.#inFlight?.end(bytes);
    if (!this.#isOver) this.#replies?.send(request, name, called, ok, value);
    this.#hasEnded();
  }

  readonly #hasEnded = (): void => {
    if (this.#isFinishing && this.#inFlight?.count === 0) process.nextTick(() => this.end(null));
    else if (this.#isBehind) this.#workSoon();
  };

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
    if (!this.#isOver) this.#around.refused(brokenFrame(error, this.#around.limits.bodyBytes));
    this.#isOver = true;
  }

  #closed(): void {
    this.#isOver = true;
    clearTimeout(this.#helloTimer);
    this.#watch?.stop();
    this.#watches?.stop();
    this.#inFlight?.stop(this.#goOn);
    this.#outgoing.stop();
    if (this.#inFlight !== null) this.#around.loads.leave(this.#caller);
    if (this.#session !== null) this.#around.sessions.left(this.#session, this);
  }
}

/** Connections so far, to tell them apart. */
let sockets = 0;
const GOING_AWAY = 1001;
const LINGER_MS = 1000;
const PONG = pack([0, "pong"]);
