import type { RawData, WebSocket } from "ws";
import { HeadwaterError } from "../../errors.js";
import { closeCodeOf, closeReasonOf } from "../../protocol/index.js";
import { errorJson } from "../../server/respond.js";
import type { Granted, StreamService, TenantStreams, TokenScope } from "../service/index.js";
import { broken, columnsPushOf, messageOf, type SocketMessage } from "./messages.js";

/** What of one client may wait for its answers, and what may wait for the client to read it. Above, nothing more is read from it. */
const IN_FLIGHT_BYTES_MAX = 8 * 1024 * 1024;
const UNREAD_BYTES_MAX = 1024 * 1024;
const SUBSCRIPTIONS_MAX = 100;
const PINGS_MAX = 100;
const HELLO_MS = 10_000;
const LINGER_MS = 1000;

/**
 * One client's WebSocket: pushes as JSON or as encoded columns, and results as they come. Requests are answered by their ids,
 * in any order. Pages of results are sent one at a time, each when the one before it has left: a slow client waits for itself.
 */
export class StreamSocket {
  readonly #ws: WebSocket;
  readonly #service: StreamService;
  readonly #subscriptions = new Map<number, AbortController>();
  readonly #hello: ReturnType<typeof setTimeout>;
  #granted: Granted | null = null;
  #streams: TenantStreams | null = null;
  #unwatch = () => {};
  #inFlightBytes = 0;
  #sending: Promise<void> = Promise.resolve();
  #isGreeting = false;
  #isOver = false;
  #hasAnswered = true;
  #pings = 0;

  constructor(ws: WebSocket, service: StreamService, granted: Granted | null) {
    this.#ws = ws;
    this.#service = service;
    this.#hello = setTimeout(() => {
      this.end(new HeadwaterError("HW-4010", `the caller did not say who it is within ${HELLO_MS} ms.`));
    }, HELLO_MS).unref();
    ws.on("message", (data, isBinary) => this.#take(data as RawData & Buffer, isBinary));
    ws.on("ping", (data: Buffer) => this.#pinged(data));
    ws.on("pong", () => {
      this.#hasAnswered = true;
    });
    ws.on("error", () => this.#closed()); // the library closes a socket that breaks the protocol
    ws.on("close", () => this.#closed());
    if (granted !== null) void this.#welcome(granted);
  }

  /** Asks whether the client is there, unless it has not answered the last time: then it is given up. */
  heartbeat(): void {
    this.#pings = 0;
    if (!this.#hasAnswered && !this.#ws.isPaused) return this.#ws.terminate();
    this.#hasAnswered = this.#ws.isPaused;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  /** Closes the socket, with the reason if there is one to give. */
  end(error: HeadwaterError | null): void {
    if (this.#isOver) return;
    if (error === null) this.#ws.close(1001);
    else this.#ws.close(closeCodeOf(error), closeReasonOf(error));
    this.#closed();
    this.#ws.resume(); // or the client's own close would never be read
    const cutOff = setTimeout(() => this.#ws.terminate(), LINGER_MS).unref();
    this.#ws.once("close", () => clearTimeout(cutOff));
  }

  #closed(): void {
    this.#isOver = true;
    clearTimeout(this.#hello);
    this.#unwatch();
    for (const abort of this.#subscriptions.values()) abort.abort();
    this.#subscriptions.clear();
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    this.#hasAnswered = true;
    try {
      if (isBinary) this.#columns(data);
      else this.#message(messageOf(data.toString("utf8")), data.length);
    } catch (error) {
      this.end(error instanceof HeadwaterError ? error : broken(String(error)));
    }
  }

  #message(message: SocketMessage, bytes: number): void {
    if (message.kind === "hello") {
      if (this.#granted !== null || this.#isGreeting) throw broken("there was a hello already");
      this.#isGreeting = true;
      this.#service.granted(message.token).then(
        (granted) => (granted === null ? this.end(unknownCaller()) : this.#welcome(granted)),
        () => this.end(unknownCaller()),
      );
      return;
    }
    const streams = this.#greeted();
    switch (message.kind) {
      case "push":
        this.#answer(message.id, bytes, "push", () =>
          streams.pushEvents(message.stream, message.rows as never, message.options),
        );
        return;
      case "subscribe":
        this.#subscribe(streams, message);
        return;
      case "unsubscribe":
        this.#subscriptions.get(message.id)?.abort();
        this.#subscriptions.delete(message.id);
    }
  }

  #columns(frame: Buffer): void {
    const streams = this.#greeted();
    const { id, stream, options, batch } = columnsPushOf(frame);
    this.#answer(id, frame.length, "push", () => streams.pushColumns(stream, batch, options));
  }

  #greeted(): TenantStreams {
    if (this.#streams !== null) return this.#streams;
    throw unknownCaller();
  }

  async #welcome(granted: Granted): Promise<void> {
    clearTimeout(this.#hello);
    this.#granted = granted;
    this.#ws.pause(); // what comes behind the hello waits until it is answered
    try {
      this.#streams = await this.#service.tenant(granted.tenant);
    } catch {
      return this.end(new HeadwaterError("HW-4010", "the tenant of this token cannot be opened."));
    }
    if (this.#isOver) return;
    this.#unwatch = this.#service.watch(granted, (error) => this.end(error));
    this.#send(`{"welcome":${JSON.stringify({ tenant: granted.tenant, scopes: granted.scopes })}}`);
    this.#pace();
  }

  #answer(id: number, bytes: number, scope: TokenScope, ask: () => Promise<unknown>): void {
    this.#inFlightBytes += bytes;
    this.#pace();
    const allowed = this.#allows(scope) ? ask() : Promise.reject(forbidden(scope));
    allowed
      .then((value) => this.#send(`{"id":${id},"ok":${JSON.stringify(value)}}`))
      .catch((error: unknown) => this.#refuse(id, error))
      .finally(() => {
        this.#inFlightBytes -= bytes;
        this.#pace();
      });
  }

  #allows(scope: TokenScope): boolean {
    const scopes = this.#granted?.scopes ?? [];
    return scopes.includes(scope) || scopes.includes("admin");
  }

  #subscribe(
    streams: TenantStreams,
    { id, stream, from, decimals }: Extract<SocketMessage, { kind: "subscribe" }>,
  ): void {
    if (!this.#allows("read")) return this.#refuse(id, forbidden("read"));
    if (this.#subscriptions.has(id)) throw broken(`there is a subscription ${id} already`);
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX)
      return this.#refuse(
        id,
        new HeadwaterError("HW-5408", `a socket has at most ${SUBSCRIPTIONS_MAX} subscriptions.`),
      );
    const abort = new AbortController();
    this.#subscriptions.set(id, abort);
    const follow = async () => {
      const { signal } = abort;
      const options = { signal, decimals, ...(from === null ? {} : { from }) };
      for await (const rows of streams.follow(stream, options)) {
        const shown = rows.map(({ number, weight, json }) => `[${number},${weight},${json}]`).join(",");
        this.#sending = this.#sending.then(() => this.#sent(`{"id":${id},"rows":[${shown}]}`, signal));
        await this.#sending;
      }
    };
    follow()
      .catch((error: unknown) => this.#refuse(id, error))
      .finally(() => {
        if (this.#subscriptions.get(id) === abort) this.#subscriptions.delete(id);
      });
  }

  /** Resolves when the text has left this process, or will not. */
  #sent(text: string, signal: AbortSignal): Promise<void> {
    if (this.#isOver || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#ws.send(text, () => resolve()));
  }

  #refuse(id: number, error: unknown): void {
    this.#send(`{"id":${id},${errorJson(error).slice(1)}`);
  }

  #send(text: string): void {
    if (!this.#isOver) this.#ws.send(text, () => this.#pace());
    this.#pace();
  }

  /** Reads no more while too much waits for answers, or for the client to read its own. */
  #pace(): void {
    if (this.#isOver) return;
    const isFull = this.#inFlightBytes > IN_FLIGHT_BYTES_MAX || this.#ws.bufferedAmount > UNREAD_BYTES_MAX;
    if (isFull === this.#ws.isPaused) return;
    if (isFull) this.#ws.pause();
    else this.#ws.resume();
  }

  #pinged(data: Buffer): void {
    this.#hasAnswered = true;
    this.#pings++;
    if (this.#isOver) return;
    if (this.#pings > PINGS_MAX) this.end(broken(`more than ${PINGS_MAX} pings came between two heartbeats`));
    else this.#ws.pong(data);
  }
}

function unknownCaller(): HeadwaterError {
  return new HeadwaterError(
    "HW-4010",
    "the caller has no token of this service, or one that is revoked or expired.",
  );
}

function forbidden(scope: TokenScope): HeadwaterError {
  return new HeadwaterError("HW-5409", `this token does not have the scope "${scope}".`);
}
