import { HeadwaterError } from "../../errors.js";
import type { QueryOptions, StreamSettings } from "../service/index.js";
import { flagOf, objectIn, textOf } from "./body.js";
import { graphAnswer } from "./graph-answer.js";
import { asked, json, type Route } from "./route.js";

const QUERY_FIELDS = ["backfill", "columns", "retention", "coordination", "reason", "partitions"];
const STREAM_FIELDS = ["name", "columns", "key", "time", "eventId", "retention", "seals"];

/** Streams, tables, queries and views: registered, looked at, deregistered. */
export const definitionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/sql",
    scope: "define",
    async run({ request, response, streams }) {
      const { sql, name, ...options } = await asked(request, ["sql", "name", ...QUERY_FIELDS]);
      const named = name === undefined ? {} : { name: textOf(name, "name") };
      const text = textOf(sql, "sql");
      if (/^\s*explain\s/i.test(text)) return json(response, { explain: await streams.explain(text) });
      const id = await streams.define(text, { ...queryOptions(options), ...named });
      json(response, { id }, 201);
    },
  },
  {
    method: "POST",
    path: "/v1/streams",
    scope: "define",
    async run({ request, response, streams }) {
      const { name, columns, ...options } = await asked(request, STREAM_FIELDS);
      const id = await streams.registerStream(
        textOf(name, "name"),
        columns as Readonly<Record<string, never>>, // checked by their reader
        streamOptions(options),
      );
      json(response, { id }, 201);
    },
  },
  {
    method: "POST",
    path: "/v1/queries",
    scope: "define",
    async run({ request, response, streams }) {
      const { sql, name, ...options } = await asked(request, ["sql", "name", ...QUERY_FIELDS]);
      const id = await streams.registerQuery(textOf(name, "name"), textOf(sql, "sql"), queryOptions(options));
      json(response, { id }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/streams",
    scope: "read",
    async run({ response, streams }) {
      json(response, { streams: streams.list() });
    },
  },
  {
    method: "GET",
    path: "/v1/streams/:name",
    scope: "read",
    async run({ response, streams, name }) {
      json(response, await streams.describe(name));
    },
  },
  {
    method: "GET",
    path: "/v1/streams/:name/explain",
    scope: "read",
    async run({ response, streams, name }) {
      streams.schemaOf(name); // or a name that does not exist would be taken for a query
      json(response, { explain: await streams.explain(name) });
    },
  },
  {
    method: "GET",
    path: "/v1/graph",
    scope: "read",
    parameters: ["known"],
    async run({ response, streams, url }) {
      json(response, graphAnswer(await streams.graph(), url.searchParams.get("known")));
    },
  },
  {
    method: "DELETE",
    path: "/v1/streams/:name",
    scope: "define",
    async run({ response, streams, name }) {
      await streams.deregister(name);
      json(response, {});
    },
  },
];

type Given = Readonly<Record<string, unknown>>;

function queryOptions(given: Given): QueryOptions {
  const { backfill, columns, retention, coordination, reason, partitions } = given;
  return {
    ...(coordination === undefined ? {} : { coordination: textOf(coordination, "coordination") }),
    ...(reason === undefined ? {} : { reason: textOf(reason, "reason") }),
    ...(partitions === undefined ? {} : { partitions: numberIn(partitions, "partitions") }),
    ...(backfill === undefined ? {} : { backfill: flagOf(backfill, "backfill") }),
    ...(columns === undefined ? {} : { columns: columns as Record<string, never> }),
    ...(retention === undefined ? {} : { retention: retained(retention) }),
  };
}

function streamOptions({ key, time, eventId, retention, seals }: Given): StreamSettings {
  return {
    ...(key === undefined ? {} : { key: textsIn(key, "key") }),
    ...(time === undefined
      ? {}
      : { time: timed(objectIn(time, "time", ["column", "latenessMs", "idleMs"])) }),
    ...(eventId === undefined
      ? {}
      : { eventId: identified(objectIn(eventId, "eventId", ["column", "keepMs"])) }),
    ...(retention === undefined ? {} : { retention: retained(retention) }),
    ...(seals === undefined
      ? {}
      : { seals: sealed(objectIn(seals, "seals", ["columns", "producers", "keepMs", "holdBytes"])) }),
  };
}

function sealed({ columns, producers, keepMs, holdBytes }: Given) {
  return {
    columns: textsIn(columns, "columns"),
    producers: textsIn(producers, "producers"),
    ...(keepMs === undefined ? {} : { keepMs: numberIn(keepMs, "keepMs") }),
    ...(holdBytes === undefined ? {} : { holdBytes: numberIn(holdBytes, "holdBytes") }),
  };
}

function timed({ column, latenessMs, idleMs }: Given) {
  return {
    column: textOf(column, "column"),
    ...(latenessMs === undefined ? {} : { latenessMs: numberIn(latenessMs, "latenessMs") }),
    ...(idleMs === undefined ? {} : { idleMs: numberIn(idleMs, "idleMs") }),
  };
}

function identified({ column, keepMs }: Given) {
  return {
    column: textOf(column, "column"),
    ...(keepMs === undefined ? {} : { keepMs: numberIn(keepMs, "keepMs") }),
  };
}

function retained(given: unknown) {
  const { bytes, ms } = objectIn(given, "retention", ["bytes", "ms"]);
  return {
    ...(bytes === undefined ? {} : { bytes: numberIn(bytes, "bytes") }),
    ...(ms === undefined ? {} : { ms: ms === null ? null : numberIn(ms, "ms") }),
  };
}

export function textsIn(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.map((each) => textOf(each, name));
  throw new HeadwaterError("HW-4005", `"${name}" must be a list of texts.`);
}

export function numberIn(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new HeadwaterError("HW-4005", `"${name}" must be a number.`);
}
