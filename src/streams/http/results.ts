import { once } from "node:events";
import { errorJson } from "../../server/respond.js";
import type { Decimals } from "../service/index.js";
import { numberOf, type RouteRequest } from "./route.js";

/** So long after the last byte a comment is sent: a reader that is gone is noticed, and proxies keep the connection. */
const HEARTBEAT_MS = 15_000;

function decimalsOf(url: URL): Decimals {
  return url.searchParams.get("decimals") === "text" ? "text" : "number";
}

/** One page of numbered rows as NDJSON. The header `x-next` says where the next page begins. */
export async function page({ response, streams, name, url }: RouteRequest): Promise<void> {
  const from = numberOf(url.searchParams.get("from")) ?? 1;
  const { rows, next } = await streams.page(name, from, { decimals: decimalsOf(url) });
  const body = rows.map(
    ({ number, weight, json }) => `{"number":${number},"weight":${weight},"row":${json}}\n`,
  );
  response.writeHead(200, {
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-next": String(next),
  });
  response.end(body.join(""));
}

/** Rows as Server-Sent Events: the id of an event is the row's number, and `Last-Event-ID` goes on behind it. */
export async function follow({
  request,
  response,
  streams,
  name,
  url,
  service,
  granted,
}: RouteRequest): Promise<void> {
  const last = request.headers["last-event-id"];
  const seen = numberOf(typeof last === "string" ? last : null);
  const from = seen === undefined ? numberOf(url.searchParams.get("from")) : seen + 1;
  const decimals = decimalsOf(url);
  if (from !== undefined)
    await streams.page(name, from); // refused before the stream has begun
  else streams.schemaOf(name);
  const abort = new AbortController();
  let refusal: unknown = null;
  const unwatch = service.watch(granted, (error) => {
    refusal = error;
    abort.abort();
  });
  response.once("close", () => abort.abort());
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.flushHeaders();
  const heartbeat = setInterval(() => {
    if (response.writableLength === 0) response.write(":\n\n");
  }, HEARTBEAT_MS).unref();
  try {
    const options = { signal: abort.signal, decimals, ...(from === undefined ? {} : { from }) };
    for await (const rows of streams.follow(name, options)) {
      const text = rows.map(
        ({ number, weight, json }) =>
          `id: ${number}\nevent: ${weight < 0 ? "retract" : "row"}\ndata: ${json}\n\n`,
      );
      // A reader that does not read holds one page back, and nothing else.
      if (!response.write(text.join(""))) await once(response, "drain", { signal: abort.signal });
    }
  } catch (error) {
    if (!abort.signal.aborted) refusal = error;
  } finally {
    clearInterval(heartbeat);
    unwatch();
  }
  response.end(refusal === null ? "" : `event: error\ndata: ${errorJson(refusal)}\n\n`);
}
