import { type CodeWith, HeadwaterError } from "../errors.js";
import type { Position } from "../model/door.js";
import {
  errorOfClose,
  errorOfForm,
  fromForm,
  Positions,
  PROTOCOL_VERSION,
  pack,
  type Terms,
  Unpacker,
} from "../protocol/index.js";
import { Requests } from "./requests.js";
import { type ResumeStorage, Resuming } from "./resuming.js";
import { type SocketClass, type SocketLike, socketClass } from "./socket.js";
import { type Watchable, Watches } from "./watches.js";

export type ConnectionState = "connecting" | "open" | "closed";

export interface ClientConnectionOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly WebSocket: SocketClass | undefined;
  readonly timeoutMs: number;
  readonly unanswered: number;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  readonly resume: ResumeStorage | undefined;
  readonly onState: (state: ConnectionState) => void;
  readonly onMessage: (message: unknown) => void;
  readonly onMissed: (why: HeadwaterError) => void;
  readonly onClosed: (error: HeadwaterError | null) => void;
}

type FinalClose = Extract<CodeWith<"final" | "repair">, `HW-4${string}`>;

/**
 * After these, a new connection would end in the same way, or take the session from the client that has it now. The type keeps
 * the list equal to what the table of codes says, without the table in the client.
 */
const FINAL: Readonly<Record<FinalClose, true>> = {
  "HW-4001": true,
  "HW-4002": true,
  "HW-4003": true,
  "HW-4004": true,
  "HW-4005": true,
  "HW-4006": true,
  "HW-4007": true,
  "HW-4009": true,
  "HW-4010": true,
  "HW-4011": true,
  "HW-4012": true,
  "HW-4014": true,
  "HW-4019": true,
  "HW-4020": true,
  "HW-4021": true,
  "HW-4024": true,
  "HW-4025": true,
  "HW-4026": true,
  "HW-4031": true,
  "HW-4041": true,
};

const DEPTH_MAX = 1000;
/** Close code of the WebSocket protocol: a frame was too large. */
const TOO_BIG = 1009;

/** A client's side of a session: one socket at a time, and a new one whenever that is lost. */
export class Connection {
  #state: ConnectionState = "connecting";
  terms: Terms | null = null;
  readonly #options: ClientConnectionOptions;
  readonly #requests: Requests;
  readonly #secret: string;
  readonly #resuming: Resuming | null;
  readonly #positions = new Positions();
  readonly #watches = new Watches((frame) => {
    if (this.#state === "open") this.#socket?.send(frame);
  });
  #socket: SocketLike | null = null;
  #seen = 0;
  #acknowledged = 0;
  #isFirst = true;
  #lastClose: HeadwaterError | null = null;
  #failures = 0;
  #isFlushing = false;
  #heard = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(options: ClientConnectionOptions) {
    this.#options = options;
    this.#resuming = options.resume === undefined ? null : new Resuming(options.resume, options.url);
    const earlier = this.#resuming?.take() ?? null;
    this.#secret = earlier?.secret ?? randomSecret();
    const { timeoutMs, unanswered } = options;
    this.#requests = new Requests(timeoutMs, unanswered, () => this.#flushSoon(), earlier?.last);
    this.#resuming?.onLeaving(() => ({ secret: this.#secret, last: this.#requests.last }));
    void this.#connect();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  #become(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    apart(() => this.#options.onState(state));
  }

  request(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.state === "closed") return Promise.reject(closed());
    try {
      const promise = this.#requests.add(name, args);
      this.#flushSoon();
      return promise;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  watchable(name: string, args: readonly unknown[]): Omit<Watchable<unknown>, "call"> {
    return this.#watches.of(name, args);
  }

  close(error: HeadwaterError | null = null): void {
    if (this.state === "closed") return;
    this.#become("closed");
    this.#resuming?.stop();
    clearTimeout(this.#retry);
    this.#drop();
    this.#requests.rejectAll(error ?? closed());
    apart(() => this.#watches.closed(error ?? closed()));
    this.#options.onClosed(error);
  }

  async #connect(): Promise<void> {
    try {
      const Socket = await socketClass(this.#options.WebSocket);
      if (this.state === "closed") return;
      this.#listen(new Socket(this.#options.url));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      this.close(new HeadwaterError("HW-4018", `cannot connect: ${why}.`, { cause }));
    }
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket;
    this.#heard = true;
    this.#watch(HANDSHAKE_MS);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      const { token } = this.#options;
      const { lastSent } = this.#requests;
      socket.send(pack([0, "hello", PROTOCOL_VERSION, this.#secret, token ?? null, this.#seen, lastSent]));
    };
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#receive(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#lost(code, reason);
    };
    socket.onerror = () => {}; // it is followed by a close, which says all there is to say
  }

  #receive(data: unknown): void {
    this.#heard = true;
    try {
      const unpacker = new Unpacker(new Uint8Array(data as ArrayBuffer), DEPTH_MAX, false);
      while (!unpacker.isDone && this.state !== "closed") this.#message(unpacker);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      return this.close(
        new HeadwaterError("HW-4014", `what the server said was not understood: ${why}`, { cause }),
      );
    }
    if (this.#seen > this.#acknowledged) {
      this.#acknowledged = this.#seen;
      this.#socket?.send(pack([0, "ack", this.#seen]));
    }
    this.#flushSoon();
  }

  #message(unpacker: Unpacker): void {
    let left = unpacker.list() - 2;
    if (left < 0) throw new HeadwaterError("HW-4014", "a message is not a list.");
    const request = Number(unpacker.next());
    const what = unpacker.next();
    const next = () => {
      left -= 1;
      return left < 0 ? null : unpacker.next();
    };
    if (request !== 0) {
      const ok = what === true;
      const form = next();
      this.#requests.answered(request, ok, ok ? fromForm(form) : errorOfForm(form));
    } else if (what === "message") {
      const [sequence, node, ticket, index] = [
        Number(next()),
        String(next()),
        Number(next()),
        Number(next()),
      ];
      this.#deliver(sequence, { node, ticket, index }, next());
    } else if (what === "value") {
      apart(() => this.#watches.take(next, left));
    } else if (what === "welcome") {
      this.#welcome(next() as Terms);
    }
    while (left > 0) next();
  }

  #welcome(terms: Terms): void {
    this.terms = terms;
    this.#become("open");
    this.#failures = 0;
    this.#watch(terms.pingMs);
    const isSame = this.#positions.begin(terms.history);
    if (!terms.resumed) {
      this.#seen = 0;
      this.#acknowledged = 0;
      if (!this.#isFirst && !(isSame && terms.complete)) this.#missed();
    }
    this.#isFirst = false;
    this.#watches.opened();
  }

  #missed(): void {
    const why = this.#lastClose?.code === "HW-4016" ? this.#lastClose : notKnown();
    apart(() => this.#options.onMissed(why));
  }

  #deliver(sequence: number, position: Position, form: unknown): void {
    if (sequence <= this.#seen) return;
    this.#seen = sequence;
    if (!this.#positions.pass(position)) return;
    const message = fromForm(form);
    apart(() => this.#options.onMessage(message));
  }

  /** What is asked for in one turn goes out in one frame. */
  #flushSoon(): void {
    if (this.#isFlushing || this.state !== "open") return;
    this.#isFlushing = true;
    soon(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.state === "open" && this.terms !== null) {
      const { inFlight, bytes, answersMs } = this.terms;
      const frame = this.#requests.take(inFlight, bytes, answersMs);
      if (frame === null) return;
      this.#socket?.send(frame);
    }
  }

  /** Gives the socket up if nothing came over it for a whole interval, although it was asked to say something. */
  #watch(pingMs: number): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => {
      if (!this.#heard) return this.#lost(0, "");
      this.#heard = false;
      if (this.state !== "open") return;
      const done = this.#requests.done();
      if (done !== null) this.#socket?.send(done);
      this.#socket?.send(PING);
    }, pingMs);
  }

  #drop(): void {
    clearInterval(this.#heartbeat);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
  }

  #lost(closeCode: number, reason: string): void {
    const error = errorOfClose(closeCode === TOO_BIG ? 4006 : closeCode, reason);
    if (error !== null && error.code in FINAL) return this.close(error);
    this.#lastClose = error;
    this.#drop();
    this.#become("connecting");
    apart(() => this.#watches.lost());
    this.#requests.again();
    const { backoffMs, backoffMaxMs } = this.#options;
    const longest = Math.min(backoffMaxMs, backoffMs * 2 ** this.#failures);
    this.#failures += 1;
    // Chance spreads the clients of a server that comes back.
    this.#retry = setTimeout(() => void this.#connect(), longest * (0.5 + Math.random() / 2));
  }
}

const HANDSHAKE_MS = 10_000;
const PING = pack([0, "ping"]);

function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** After what is under way in this turn; sooner than a timer. */
const soon: (task: () => void) => void =
  typeof setImmediate === "function" ? (task) => setImmediate(task) : (task) => queueMicrotask(task);

/** What an application's callback throws is not the connection's affair, and must not be lost either. */
function apart(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function notKnown(): HeadwaterError {
  return new HeadwaterError("HW-4016", "the server no longer knew the session. Messages may have been lost.");
}

function closed(): HeadwaterError {
  return new HeadwaterError(
    "HW-4018",
    "the client is closed: requests without an answer may have been done or not.",
  );
}
