import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../../errors.js";
import type { TenantStreams } from "../service/index.js";

/** The number that a reader asks to begin with; `undefined` if it does not say. */
function numberOf(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HeadwaterError("HW-4005", "rows are numbered from 1 on; the number that was asked for is none.");
}

/** One page of numbered rows as NDJSON. `next` in the header is where the next page begins. */
export async function page(
  response: ServerResponse,
  streams: TenantStreams,
  name: string,
  url: URL,
): Promise<void> {
  const { rows, next } = await streams.page(name, numberOf(url.searchParams.get("from")) ?? 1);
  const body = rows.map(
    ({ number, weight, json }) => `{"number":${number},"weight":${weight},"row":${json}}\n`,
  );
  response.writeHead(200, {
    "content-type": "application/x-ndjson; charset=utf-8",
    "cache-control": "no-store",
    "x-next": String(next),
  });
  response.end(body.join(""));
}

/** Rows as Server-Sent Events: the id of an event is the row's number, and `Last-Event-ID` goes on behind it. */
export async function follow(
  request: IncomingMessage,
  response: ServerResponse,
  streams: TenantStreams,
  name: string,
  url: URL,
): Promise<void> {
  const last = request.headers["last-event-id"];
  const seen = numberOf(typeof last === "string" ? last : null);
  const from = seen === undefined ? numberOf(url.searchParams.get("from")) : seen + 1;
  if (from !== undefined)
    await streams.page(name, from); // refused before the stream has begun
  else streams.schemaOf(name);
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  response.flushHeaders();
  const options = { signal: abort.signal, ...(from === undefined ? {} : { from }) };
  for await (const rows of streams.follow(name, options)) {
    const text = rows.map(
      ({ number, weight, json }) =>
        `id: ${number}\nevent: ${weight < 0 ? "retract" : "row"}\ndata: ${json}\n\n`,
    );
    // A reader that does not read holds one page back, and nothing else.
    if (!response.write(text.join("")))
      await Promise.race([once(response, "drain"), once(response, "close")]).catch(() => {});
  }
  response.end();
}
