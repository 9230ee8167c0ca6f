import type { IncomingMessage } from "node:http";
import { HeadwaterError } from "../../errors.js";
import type { PushOptions } from "../service/index.js";
import { bodyOf, textOf } from "./body.js";
import { numberIn, textsIn } from "./definition-routes.js";
import { asked, BODY_BYTES_MAX, json, type Route } from "./route.js";

const SEAL_FIELDS = ["producer", "upTo", "partitions", "sequence"];

/** The media type of encoded columns. */
const COLUMNS = "application/x-headwater-columns";

/** Rows go in: lines of JSON, or encoded columns. */
export const pushRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/streams/:name/events",
    scope: "push",
    parameters: ["producer", "sequence", "seal"],
    async run({ request, response, streams, name, url }) {
      const options = pushOptions(request, url);
      const body = await bodyOf(request, BODY_BYTES_MAX);
      const isColumns = request.headers["content-type"] === COLUMNS;
      const answer = isColumns
        ? await streams.pushColumns(name, body, options)
        : await streams.pushNdjson(name, body, options);
      json(response, answer);
    },
  },
  {
    method: "POST",
    path: "/v1/streams/:name/seal",
    scope: "push",
    async run({ request, response, streams, name }) {
      const { producer = "", upTo = null, partitions, sequence } = await asked(request, SEAL_FIELDS);
      const by = textOf(producer, "producer");
      if (partitions !== undefined) {
        const number = sequence === undefined ? {} : { sequence: numberIn(sequence, "sequence") };
        const options = checked({ producer: by, ...number, seals: sealsOf(partitions) });
        json(response, await streams.pushEvents(name, [], options));
        return;
      }
      if (upTo !== null && typeof upTo !== "number")
        throw new HeadwaterError("HW-4005", '"upTo" is a time in milliseconds since 1970.');
      await streams.seal(name, by, upTo);
      json(response, {});
    },
  },
  {
    method: "PUT",
    path: "/v1/streams/:name/producers",
    scope: "define",
    async run({ request, response, streams, name }) {
      const { producers } = await asked(request, ["producers"]);
      await streams.declareProducers(name, textsIn(producers, "producers"));
      json(response, {});
    },
  },
];

function pushOptions(request: IncomingMessage, url: URL): PushOptions {
  const [producer, sequence] = [url.searchParams.get("producer"), url.searchParams.get("sequence")];
  const key = request.headers["idempotency-key"];
  if (sequence !== null && !(producer !== null && producer !== "" && /^\d{1,15}$/.test(sequence)))
    throw new HeadwaterError("HW-4005", '"sequence" is a number from 0 on, and needs a "producer".');
  const seals = url.searchParams.getAll("seal").map(sealIn);
  return checked({
    ...(seals.length === 0 ? {} : { seals: sealsOf(seals) }),
    ...(producer === null ? {} : { producer }),
    ...(sequence === null ? {} : { sequence: Number(sequence) }),
    ...(typeof key === "string" ? { key } : {}),
  });
}

const SEALS_MAX = 10_000;

/** Partitions, each as the list of values that name it. */
export function sealsOf(given: unknown): readonly (readonly unknown[])[] {
  const lists: unknown[] | null = Array.isArray(given) ? given : null;
  if (lists !== null && lists.length <= SEALS_MAX && lists.every((each) => Array.isArray(each)))
    return lists as unknown[][];
  throw new HeadwaterError(
    "HW-4005",
    `a seal names a partition by a list of values such as ["autumn"]; at most ${SEALS_MAX} come at once.`,
  );
}

/** A partition as JSON in an address. */
export function sealIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HeadwaterError("HW-4005", 'a partition is a list of values as JSON, such as ["autumn"].');
  }
}

const NAME_LENGTH_MAX = 200;

/** Names of producers and keys are kept, so they have an end. */
export function checked(options: PushOptions): PushOptions {
  const { producer = "", key = "" } = options;
  if (producer.length <= NAME_LENGTH_MAX && key.length <= NAME_LENGTH_MAX) return options;
  throw new HeadwaterError(
    "HW-4005",
    `the name of a producer and an Idempotency-Key have at most ${NAME_LENGTH_MAX} characters.`,
  );
}
