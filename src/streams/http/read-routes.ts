import type { IncomingMessage } from "node:http";
import { HeadwaterError } from "../../errors.js";
import { writerOf } from "../outputs/index.js";
import type { QueryAnswer, TenantStreams } from "../service/index.js";
import { bodyOf, objectOf, textOf } from "./body.js";
import { sealIn, sealsOf } from "./push-routes.js";
import { follow, page } from "./results.js";
import { BODY_BYTES_MAX, countOf, json, type Route } from "./route.js";

const LIMIT = 10_000;
const LIMIT_MAX = 1_000_000;
/** So long a request waits for a seal at most. */
const WAIT_MS_MAX = 60_000;

/** Rows come out: numbered results, tables and views by their keys, and SELECT over all of them. */
export const readRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/streams/:name/results",
    scope: "read",
    parameters: ["from", "decimals"],
    async run(asked) {
      const isFollowed = /\btext\/event-stream\b/.test(asked.request.headers.accept ?? "");
      if (isFollowed) await follow(asked);
      else await page(asked);
    },
  },
  {
    method: "GET",
    path: "/v1/streams/:name/partition",
    scope: "read",
    parameters: ["partition", "wait"],
    async run({ request, response, streams, name, url }) {
      const key = partitionIn(url) ?? [];
      await sealed(request, streams, name, key, url);
      json(response, { state: "sealed" });
    },
  },
  {
    method: "GET",
    path: "/v1/views/:name",
    scope: "read",
    parameters: ["key", "from", "to", "limit", "partition", "wait"],
    async run({ request, response, streams, name, url }) {
      const { searchParams } = url;
      const partition = partitionIn(url);
      if (partition !== null) await sealed(request, streams, name, partition, url);
      const key = searchParams.getAll("key");
      const bounds =
        key.length > 0
          ? { from: key, to: key }
          : { from: searchParams.getAll("from"), to: searchParams.getAll("to") };
      const lines = await streams.viewLines(name, {
        ...bounds,
        limit: countOf(url, "limit", LIMIT, LIMIT_MAX),
      });
      sendRows(response, lines);
    },
  },
  {
    method: "POST",
    path: "/v1/query",
    scope: "read",
    async run({ request, response, streams }) {
      const { sql, parameters = [] } = objectOf(await bodyOf(request, BODY_BYTES_MAX), ["sql", "parameters"]);
      const answer = await streams.query(textOf(sql, "sql"), parametersOf(parameters));
      sendRows(response, linesOf(answer), answer.columns);
    },
  },
];

/** The partition that a reader waits for: a list of values as JSON. */
function partitionIn(url: URL): readonly unknown[] | null {
  const text = url.searchParams.get("partition");
  return text === null ? null : (sealsOf([sealIn(text)])[0] ?? null);
}

/** Waits until the partition is sealed, at most as long as the caller asks for and is there. */
async function sealed(
  request: IncomingMessage,
  streams: TenantStreams,
  name: string,
  partition: readonly unknown[],
  url: URL,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  request.once("close", leave);
  try {
    const waitMs = countOf(url, "wait", 0, WAIT_MS_MAX);
    await streams.sealed(name, partition, { waitMs, signal: gone.signal });
  } finally {
    request.off("close", leave);
  }
}

function linesOf({ schema, batches }: QueryAnswer): string[] {
  const writer = writerOf("json", schema);
  return batches.flatMap((batch) => writer.lines(batch));
}

/** The rows are JSON already, with all digits of decimals. */
function sendRows(
  response: Parameters<Route["run"]>[0]["response"],
  lines: readonly string[],
  columns?: QueryAnswer["columns"],
): void {
  const head = columns === undefined ? "" : `"columns":${JSON.stringify(columns)},`;
  const body = Buffer.from(`{${head}"rows":[${lines.join(",\n")}]}\n`);
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": body.length,
  });
  response.end(body);
}

function parametersOf(given: unknown): (string | null)[] {
  const values: unknown[] | null = Array.isArray(given) ? given : null;
  if (values === null) throw new HeadwaterError("HW-4005", '"parameters" must be a list.');
  return values.map((value) => {
    if (value === null || typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw new HeadwaterError("HW-4005", '"parameters" are texts, numbers, truth values and null.');
  });
}
