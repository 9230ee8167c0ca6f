import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../../errors.js";
import type { PortListener } from "../../server/listen.js";
import { Origins } from "../../server/origin.js";
import { refuse, refuseRaw, respond } from "../../server/respond.js";
import type { StreamService } from "../service/index.js";
import { bodyOf, objectOf, textOf } from "./body.js";
import { OUTPUT_ROUTES } from "./output-routes.js";
import { READ_ROUTES } from "./read-routes.js";
import { follow, page } from "./results.js";
import { BODY_BYTES_MAX, json, type Route } from "./route.js";
import { SOURCE_ROUTES } from "./source-routes.js";

/** The service over HTTP: what is asked, by method and path, and which scope of a token allows it. */
export class StreamsHttp {
  readonly #service: StreamService;
  readonly #origins: Origins;
  #isClosing = false;

  constructor(service: StreamService, listener: PortListener, origins: readonly string[] = []) {
    this.#service = service;
    this.#origins = new Origins(origins, listener.isLocal);
    listener.open(this.#handle, (_, stream) =>
      refuseRaw(stream, new HeadwaterError("HW-4004", "there are no sockets here.")),
    );
  }

  close(): void {
    this.#isClosing = true;
  }

  readonly #handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.#answer(request, response).catch((error: unknown) => {
      refuse(request, response, error, 4 * BODY_BYTES_MAX, { "x-content-type-options": "nosniff" });
    });
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isClosing)
      throw new HeadwaterError("HW-1401", "the server is closing and takes no more requests.");
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname === "/healthz") return respond(response, 200, '{"ok":true}');
    this.#origins.check(request);
    const token = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const granted = this.#service.granted(token);
    if (granted === null)
      throw new HeadwaterError(
        "HW-4010",
        "the caller has no token of this service, or one that is revoked or expired.",
      );
    const matching = ROUTES.filter(({ path }) => path.test(url.pathname));
    const route = matching.find(({ method }) => method === request.method);
    if (route === undefined)
      throw matching.length === 0
        ? new HeadwaterError("HW-4004", "there is nothing at this path.")
        : new HeadwaterError(
            "HW-4005",
            `this path takes ${matching.map(({ method }) => method).join(", ")}.`,
          );
    if (!granted.scopes.includes("admin") && !granted.scopes.includes(route.scope))
      throw new HeadwaterError("HW-5409", `this token does not have the scope "${route.scope}".`);
    const name = decoded(route.path.exec(url.pathname)?.[1] ?? "");
    const streams = await this.#service.tenant(granted.tenant);
    await route.run({ request, response, url, name, streams, granted });
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HeadwaterError("HW-4005", "the path is not well formed.");
  }
}

const ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: /^\/v1\/sql$/,
    scope: "define",
    async run({ request, response, streams }) {
      const { sql, name, backfill, coordination, reason, partitions } = objectOf(
        await bodyOf(request, BODY_BYTES_MAX),
      );
      const text = textOf(sql, "sql");
      if (/^\s*explain\s/i.test(text)) return json(response, { explain: await streams.explain(text) });
      const id = await streams.define(text, {
        ...(name === undefined ? {} : { name: textOf(name, "name") }),
        ...(coordination === undefined ? {} : { coordination: textOf(coordination, "coordination") }),
        ...(reason === undefined ? {} : { reason: textOf(reason, "reason") }),
        ...(partitions === undefined ? {} : { partitions: Number(partitions) }),
        backfill: backfill === true,
      });
      json(response, { id }, 201);
    },
  },
  {
    method: "GET",
    path: /^\/v1\/streams$/,
    scope: "read",
    async run({ response, streams }) {
      json(response, { streams: streams.list() });
    },
  },
  {
    method: "GET",
    path: /^\/v1\/streams\/([^/]+)$/,
    scope: "read",
    async run({ response, streams, name }) {
      json(response, await streams.describe(name));
    },
  },
  {
    method: "DELETE",
    path: /^\/v1\/streams\/([^/]+)$/,
    scope: "define",
    async run({ response, streams, name }) {
      await streams.deregister(name);
      json(response, {});
    },
  },
  {
    method: "POST",
    path: /^\/v1\/streams\/([^/]+)\/events$/,
    scope: "push",
    async run({ request, response, streams, name, url }) {
      const [producer, sequence] = [url.searchParams.get("producer"), url.searchParams.get("sequence")];
      const key = request.headers["idempotency-key"];
      if (sequence !== null && !(producer !== null && /^\d{1,15}$/.test(sequence)))
        throw new HeadwaterError("HW-4005", '"sequence" is a number from 0 on, and needs a "producer".');
      const body = await bodyOf(request, BODY_BYTES_MAX);
      const taken = await streams.pushNdjson(name, body, {
        ...(producer === null ? {} : { producer }),
        ...(sequence === null ? {} : { sequence: Number(sequence) }),
        ...(typeof key === "string" ? { key } : {}),
      });
      json(response, taken);
    },
  },
  {
    method: "POST",
    path: /^\/v1\/streams\/([^/]+)\/seal$/,
    scope: "push",
    async run({ request, response, streams, name }) {
      const { producer = "", upTo = null } = objectOf(await bodyOf(request, BODY_BYTES_MAX));
      if (upTo !== null && typeof upTo !== "number")
        throw new HeadwaterError("HW-4005", '"upTo" is a time in milliseconds since 1970.');
      await streams.seal(name, textOf(producer, "producer"), upTo);
      json(response, {});
    },
  },
  {
    method: "GET",
    path: /^\/v1\/streams\/([^/]+)\/results$/,
    scope: "read",
    async run({ request, response, streams, name, url }) {
      const isFollowed = /\btext\/event-stream\b/.test(request.headers.accept ?? "");
      if (isFollowed) await follow(request, response, streams, name, url);
      else await page(response, streams, name, url);
    },
  },
  ...READ_ROUTES,
  ...OUTPUT_ROUTES,
  ...SOURCE_ROUTES,
];
