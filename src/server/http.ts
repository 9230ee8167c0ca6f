import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../errors.js";
import { type Share, shareOf } from "../model/share.js";
import { type Budgets, callerOf } from "./budgets.js";
import type { Ask, Calls } from "./call.js";
import type { CallerLoads } from "./caller-load.js";
import type { Called } from "./expected-reply.js";
import { IdempotencyKeys } from "./idempotency.js";
import { parseJson, toJson } from "./json.js";
import type { ServerLimits } from "./limits.js";
import { type Refusals, shownPath } from "./log.js";
import type { Origins } from "./origin.js";
import { heldBack } from "./replies.js";
import { leastBytes } from "./reply-size.js";
import { refuse, respond } from "./respond.js";
import type { Callers } from "./tokens.js";
import { LARGE_BYTES, LARGE_REPLY_BYTES, type ReadTurns } from "./turns.js";
import { UnreadReplies } from "./unread.js";

export interface HttpSurroundings {
  readonly calls: Calls;
  readonly callers: Callers;
  readonly origins: Origins;
  readonly limits: ServerLimits;
  readonly budgets: Budgets;
  readonly turns: ReadTurns;
  readonly loads: CallerLoads;
  readonly refusals: Refusals;
}

const API = "/api/";

/** The caller is gone, so no reply can be sent. */
class Gone extends Error {}

/** Requests over HTTP: `POST /api/NAME` with a JSON list of arguments, and `GET /healthz`. */
export class Http {
  readonly #around: HttpSurroundings;
  readonly #keys = new IdempotencyKeys();
  /** Pipelining lets one connection ask many times at once. */
  readonly #underWay = new WeakMap<object, number>();
  readonly #unread: UnreadReplies;
  #isClosing = false;

  constructor(around: HttpSurroundings) {
    this.#around = around;
    this.#unread = new UnreadReplies(around.limits.stallMs);
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    this.#underWay.set(socket, (this.#underWay.get(socket) ?? 0) + 1);
    this.#handle(request, response)
      .catch((error: unknown) => this.#refuse(request, response, error))
      .finally(() => {
        this.#underWay.set(socket, (this.#underWay.get(socket) ?? 1) - 1);
        this.#unread.watch(socket);
      });
  };

  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (error instanceof Gone) return;
    const { refusals, limits } = this.#around;
    if (error instanceof HeadwaterError) {
      const from = request.socket.remoteAddress;
      const target = `${request.method} ${shownPath(request.url)}`;
      refusals.note(`refused ${target} from ${from}`, { what: "request", code: error.code, from, target });
    }
    refuse(request, response, error, 4 * limits.bodyBytes, this.#headers(response));
  }

  /** Takes no more requests; connections end with what they are answering. */
  close(): void {
    this.#isClosing = true;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "" } = request;
    if (this.#isClosing)
      throw new HeadwaterError("HW-1401", "the server is closing and takes no more requests.");
    if (url === "/healthz" && (method === "GET" || method === "HEAD")) return this.#health(response);
    if (request.headers.host === undefined)
      throw new HeadwaterError("HW-4005", "the request has no Host header.");
    allowOrigin(response, this.#around.origins.check(request));
    if (!url.startsWith(API)) throw new HeadwaterError("HW-4004", `there is nothing at ${shownPath(url)}.`);
    if (method === "OPTIONS") return preflight(response);
    if (method !== "POST") throw new HeadwaterError("HW-4005", "API functions are called with POST.");
    if (url.includes("?")) {
      throw new HeadwaterError(
        "HW-4005",
        "the address has a query, and nothing in it would be read. Arguments are the body.",
      );
    }
    const { inFlight } = this.#around.limits;
    if ((this.#underWay.get(request.socket) ?? 0) > inFlight) throw tooMany(inFlight);
    await this.#answer(request, response, url.slice(API.length));
  }

  /** Fails as soon as nothing can commit any more, also without a request that has shown it. */
  async #health(response: ServerResponse): Promise<void> {
    const failure = await this.#around.calls.door.health();
    if (failure !== null) throw failure;
    respond(response, 200, '{"ok":true}', this.#headers(response));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const { callers, budgets, loads } = this.#around;
    const client = (await callers.grantFor(bearerOf(request)))?.name;
    const caller = callerOf(client ?? null, request.socket.remoteAddress);
    const share = shareOf(budgets.inFlight, { caller, part: "HTTP" });
    const taken = new Taken(share);
    try {
      const called = loads.of(caller).expected(name);
      const value = await this.#call(request, name, client, caller, called, taken);
      const json = await this.#reply(name, caller, value, called, taken);
      respond(response, 200, json, this.#headers(response));
    } finally {
      if (response.writableFinished || response.destroyed || !response.headersSent) taken.end();
      else response.once("close", () => taken.end());
    }
  }

  async #call(
    request: IncomingMessage,
    name: string,
    client: string | undefined,
    caller: string,
    called: Called | undefined,
    taken: Taken,
  ): Promise<unknown> {
    const { calls, limits, turns, loads } = this.#around;
    refuseType(request);
    if (!taken.tryTake(called?.expectedBytes ?? 0)) throw noRoom(limits);
    const body = await bodyOf(request, limits, taken);
    if (body.length > LARGE_BYTES) await new Promise<void>((resolve) => turns.wait(caller, resolve));
    const load = loads.of(caller);
    while (!load.begins()) await new Promise<void>((resolve) => load.awaitTurn(resolve));
    const args = parseJson(body, limits.depth);
    const key = idempotencyKeyOf(request);
    const id = key === null ? undefined : `http:${client ?? ""}:${key}`;
    if (id !== undefined) {
      this.#keys.refuseOther(id, createHash("sha256").update(`${name}\n`).update(body).digest("base64"));
    }
    return new Promise((resolve, reject) => {
      const payer = { caller, part: "HTTP" };
      const trace = traceOf(request);
      const ask: Ask = (asked, waiting) => {
        if (trace !== undefined) waiting.trace = trace;
        calls.door.ask(asked, client, id, payer, waiting);
      };
      calls.call(name, args, ask, { resolve, reject });
    });
  }

  isAnswering(socket: object): boolean {
    return (this.#underWay.get(socket) ?? 0) > 0;
  }

  #headers(response: ServerResponse): Record<string, string> {
    return { ...corsOf(response), ...(this.#isClosing ? { connection: "close" } : {}) };
  }

  /** The reply as JSON, within the caller's share. One that has no room is not written: that would take time for nothing. */
  async #reply(
    name: string,
    caller: string,
    value: unknown,
    called: Called | undefined,
    taken: Taken,
  ): Promise<string> {
    const { limits, turns } = this.#around;
    if (leastBytes(value, LARGE_REPLY_BYTES) > LARGE_REPLY_BYTES)
      await new Promise<void>((resolve) => turns.wait(caller, resolve));
    taken.giveAll();
    const least = leastBytes(value, limits.replyBytes);
    const json = least > Math.min(taken.share.room, limits.replyBytes) ? null : resultJson(value);
    const bytes = json === null ? least : Buffer.byteLength(json);
    called?.replied(bytes);
    if (bytes > limits.replyBytes) {
      throw new HeadwaterError(
        "HW-4006",
        `the result is larger than ${limits.replyBytes} bytes. The event has been committed.`,
      );
    }
    if (json === null || !taken.tryTake(bytes)) throw heldBack(name);
    return json;
  }
}

/** A method without a result has null as its value: JSON has no better word. */
function resultJson(value: unknown): string {
  return `{"value":${value === undefined ? "null" : toJson(value)}}`;
}

function bearerOf({ headers: { authorization } }: IncomingMessage): string | undefined {
  return /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? "")?.[1];
}

/** The trace context of W3C that the request comes with. One that is not well formed is none. */
function traceOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  const isOne =
    typeof traceparent === "string" &&
    /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent);
  return isOne ? traceparent : undefined;
}

function idempotencyKeyOf({ headers }: IncomingMessage): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new HeadwaterError(
    "HW-4005",
    "the Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
  );
}

function refuseType({ headers }: IncomingMessage): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new HeadwaterError("HW-4009", "the body is compressed or otherwise encoded. Send it as it is.");
  }
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers["content-type"] ?? "")) {
    throw new HeadwaterError("HW-4009", "the body must be of the type application/json.");
  }
}

function bodyOf(request: IncomingMessage, limits: ServerLimits, taken: Taken): Promise<Buffer> {
  const { bodyBytes } = limits;
  const tooLarge = () => new HeadwaterError("HW-4006", `the body is larger than ${bodyBytes} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > bodyBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      const error = bytes > bodyBytes ? tooLarge() : taken.tryTake(chunk.length) ? null : noRoom(limits);
      if (error === null) {
        chunks.push(chunk);
        return;
      }
      bytes = Number.POSITIVE_INFINITY; // the rest is thrown away
      chunks.length = 0;
      reject(error);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("close", () => reject(new Gone()));
    request.once("error", () => reject(new Gone()));
  });
}

/** What one request has taken from its caller's share. */
class Taken {
  #bytes = 0;

  constructor(readonly share: Share) {}

  tryTake(bytes: number): boolean {
    if (!this.share.tryTake(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  giveAll(): void {
    this.share.give(this.#bytes);
    this.#bytes = 0;
  }

  end(): void {
    this.giveAll();
    this.share.leave();
  }
}

function noRoom({ inFlightBytesTotal }: ServerLimits): HeadwaterError {
  return HeadwaterError.withoutStack(
    "HW-4030",
    "the request was not carried out: the requests of this caller that are under way, and replies that it has not read, have " +
      `used up its share of ${inFlightBytesTotal} bytes. Ask again later.`,
  );
}

function allowOrigin(response: ServerResponse, origin: string | null): void {
  if (origin !== null) response.setHeader("access-control-allow-origin", origin);
}

function corsOf(response: ServerResponse): Record<string, string> {
  return response.hasHeader("access-control-allow-origin") ? { vary: "Origin" } : {};
}

/** A browser asks before it lets a page of a listed origin ask. */
function preflight(response: ServerResponse): void {
  respond(response, 200, "{}", {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type, authorization, idempotency-key, traceparent",
    "access-control-max-age": "600",
    ...corsOf(response),
  });
}

function tooMany(inFlight: number): HeadwaterError {
  return new HeadwaterError("HW-4013", `${inFlight} requests of this connection are under way already.`);
}
