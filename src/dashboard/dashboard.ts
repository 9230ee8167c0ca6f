import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../errors.js";
import { type AnyService, HOSTS } from "../host/service.js";
import { isLoopback, Origins } from "../server/origin.js";
import { refuse, respond } from "../server/respond.js";
import { Access, tokenIn } from "./access.js";
import { sendAsset } from "./assets.js";
import { sendFeed } from "./feed.js";
import { Monitor } from "./monitor.js";
import { type DashboardAbout, ROUTES } from "./routes.js";
import {
  type DashboardCaller,
  type DashboardStreams,
  OPERATOR,
  sessionOf,
  streamsAnswer,
  tenantsOf,
} from "./streams.js";

export interface DashboardOptions extends DashboardAbout {
  /** Fixed, so that pages stay signed in when the program is started again; drawn at random otherwise. */
  readonly token?: string | undefined;
  /** Can only this machine connect? */
  readonly isLocal: boolean;
  /** The streams and queries to show. */
  readonly streams?: DashboardStreams;
}

const BODY_BYTES_MAX = 64 * 1024;
/** All that belongs to the dashboard is below this path, so that a program can be served at the same port. */
const PREFIX = "/headwater/";
const STREAMS = "admin/streams/";

/** The dashboard of one program: the page, and the admin API that it uses. */
export class Dashboard {
  readonly #service: AnyService;
  readonly #options: DashboardOptions;
  readonly #access: Access;
  readonly #origins: Origins;
  readonly #monitor: Monitor;

  constructor(service: AnyService, options: DashboardOptions) {
    this.#service = service;
    this.#options = options;
    this.#access = new Access(options.token);
    this.#origins = new Origins([], options.isLocal);
    this.#monitor = new Monitor(service);
  }

  /** The path and the fragment that open the page and sign it in, once. A browser sends no fragment to any server. */
  entry(): string {
    return `${PREFIX}#code=${this.#access.code()}`;
  }

  /** Answers requests for the dashboard; says whether this was one. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = pathOf(request);
    if (path !== PREFIX.slice(0, -1) && !path.startsWith(PREFIX)) return false;
    this.#answer(request, response, path).catch((error: unknown) => {
      refuse(request, response, error, BODY_BYTES_MAX);
    });
    return true;
  };

  async close(): Promise<void> {
    this.#monitor.close();
    await this.#options.streams?.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    this.#mustNameThisServer(request);
    const isReading = request.method === "GET" || request.method === "HEAD";
    if (path === PREFIX.slice(0, -1)) {
      response.writeHead(308, { location: PREFIX }).end();
      return;
    }
    const name = path.slice(PREFIX.length);
    if (!name.startsWith("admin/")) {
      if (isReading && (await sendAsset(response, name, request.method === "HEAD"))) return;
      throw new HeadwaterError("HW-4004", "there is nothing at this path.");
    }
    this.#origins.check(request);
    const asked = `${request.method} ${name.slice("admin/".length)}`;
    if (asked === "POST login") {
      const { code } = await bodyOf(request);
      return respond(response, 200, JSON.stringify({ token: this.#access.exchange(code) }));
    }
    const caller = await this.#caller(request);
    const streams = this.#options.streams ?? null;
    if (asked === "GET session")
      return respond(
        response,
        200,
        JSON.stringify(sessionOf(caller, streams, this.#options.cluster !== undefined)),
      );
    if (asked === "GET tenants")
      return respond(response, 200, JSON.stringify({ tenants: await tenantsOf(caller, streams) }));
    if (name.startsWith(STREAMS)) {
      if (!isReading && request.method !== "DELETE") mustBeJson(request);
      return await streamsAnswer(caller, streams, request, response, name.slice(STREAMS.length));
    }
    if (caller !== OPERATOR)
      throw new HeadwaterError("HW-5409", 'this token does not have the scope "operator".');
    this.#monitor.wake();
    if (asked === "POST code") return respond(response, 200, JSON.stringify({ code: this.#access.code() }));
    if (asked === "GET feed")
      return sendFeed(request, response, this.#monitor, () => this.#service[HOSTS]?.list() ?? null);
    const route = Object.hasOwn(ROUTES, asked) ? ROUTES[asked] : undefined;
    if (route === undefined) throw new HeadwaterError("HW-4004", "there is nothing at this path.");
    const query = new URL(request.url ?? "/", "http://localhost").searchParams;
    const body = isReading ? {} : await bodyOf(request);
    const answer = await route({
      ...{ service: this.#service, monitor: this.#monitor, about: this.#options },
      ...{ query, body, request, response },
    });
    respond(response, 200, JSON.stringify(answer));
  }

  /** Who asks: the operator, with the token of the dashboard, or with one of the streaming service that is an operator's; or a tenant. */
  async #caller(request: IncomingMessage): Promise<DashboardCaller> {
    const token = tokenIn(request);
    if (this.#access.isToken(token)) return OPERATOR;
    const granted = (await this.#options.streams?.granted?.(token)) ?? null;
    if (granted === null)
      throw new HeadwaterError("HW-4010", "the request has not the token of the dashboard.");
    return granted.scopes.includes("operator") ? OPERATOR : granted;
  }

  /**
   * A server on the loopback is asked by names of the loopback only: a stranger's page whose name was made to lead here (DNS
   * rebinding) is refused before it gets even the page.
   */
  #mustNameThisServer({ headers: { host } }: IncomingMessage): void {
    if (!this.#options.isLocal) return;
    const name =
      host !== undefined && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
    if (!isLoopback(name))
      throw new HeadwaterError(
        "HW-4012",
        "the request names another server than this one in its Host header.",
      );
  }
}

function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/** A form of another page can send neither this type nor the token. */
function mustBeJson({ headers }: IncomingMessage): void {
  if (!/^application\/json\b/.test(headers["content-type"] ?? ""))
    throw new HeadwaterError("HW-4009", "the body must be JSON (content-type: application/json).");
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  mustBeJson(request);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX)
      throw new HeadwaterError("HW-4006", `the body is larger than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof body === "object" && body !== null && !Array.isArray(body))
      return body as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new HeadwaterError("HW-4005", "the body is not a JSON object.");
}
