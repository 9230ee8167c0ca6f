import { HeadwaterError } from "../../errors.js";
import type { ViewRange } from "../service/index.js";
import { follow, page } from "./results.js";
import { json, type Route } from "./route.js";

const LIMIT = 10_000;

/** Rows come out: numbered results as pages and as they come, and what tables and views hold. */
export const readRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/streams/:name/results",
    scope: "read",
    async run(asked) {
      const isFollowed = /\btext\/event-stream\b/.test(asked.request.headers.accept ?? "");
      if (isFollowed) await follow(asked);
      else await page(asked);
    },
  },
  {
    method: "GET",
    path: "/v1/views/:name",
    scope: "read",
    async run({ response, streams, name, url: { searchParams } }) {
      const limit = Number(searchParams.get("limit") ?? LIMIT);
      if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT)
        throw new HeadwaterError("HW-4005", `"limit" is a number from 1 to ${LIMIT}.`);
      const [key, from, to] = ["key", "from", "to"].map((word) => boundIn(searchParams.get(word), word));
      const rows = await streams.readView(name, { from: key ?? from ?? null, to: key ?? to ?? null, limit });
      json(response, { rows });
    },
  },
];

/** A key, or the first columns of one, as a JSON list: `["a",3]`. */
function boundIn(text: string | null, word: string): NonNullable<ViewRange["from"]> | null {
  if (text === null) return null;
  const wrong = new HeadwaterError("HW-4005", `"${word}" is a list of values as JSON: ["a",3].`);
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (!Array.isArray(values)) throw wrong;
  return values.map((value: unknown) => {
    if (
      value === null ||
      typeof value === "boolean" ||
      typeof value === "number" ||
      typeof value === "string"
    )
      return value;
    throw wrong;
  });
}
