import type { TenantStreams } from "../service/index.js";
import { bodyOf, flagOf, objectOf, textOf, textsOf } from "./body.js";
import { numberIn } from "./definition-routes.js";
import { BODY_BYTES_MAX, json, numberOf, type Route } from "./route.js";

const NUMBERS = ["from", "attempts", "backoffMs", "timeoutMs", "batchRows"] as const;

type Given = Readonly<Record<string, unknown>>;

/** What is registered under a name and works by itself from then on. */
interface Registered {
  readonly kind: "outputs" | "sources";
  readonly fields: readonly string[];
  register(streams: TenantStreams, given: Given): Promise<string>;
  deregister(streams: TenantStreams, name: string): Promise<void>;
}

/** Registers, lists, shows and deregisters. */
function routesOf({ kind, fields, register, deregister }: Registered): readonly Route[] {
  return [
    {
      method: "POST",
      path: `/v1/${kind}`,
      scope: "define",
      async run({ request, response, streams }) {
        const id = await register(streams, objectOf(await bodyOf(request, BODY_BYTES_MAX), fields));
        json(response, { id }, 201);
      },
    },
    {
      method: "GET",
      path: `/v1/${kind}`,
      scope: "read",
      async run({ response, streams }) {
        json(response, { [kind]: await streams[kind].list() });
      },
    },
    {
      method: "GET",
      path: `/v1/${kind}/:name`,
      scope: "read",
      async run({ response, streams, name }) {
        json(response, await streams[kind].status(name));
      },
    },
    {
      method: "DELETE",
      path: `/v1/${kind}/:name`,
      scope: "define",
      async run({ response, streams, name }) {
        await deregister(streams, name);
        json(response, {});
      },
    },
  ];
}

function commonOf({ name, secrets }: Given) {
  return {
    ...(name === undefined ? {} : { name: textOf(name, "name") }),
    ...(secrets === undefined ? {} : { secrets: textsOf(secrets, "secrets") }),
  };
}

export const sourceRoutes: readonly Route[] = routesOf({
  kind: "sources",
  fields: ["stream", "from", "name", "secrets"],
  register: (streams, given) =>
    streams.registerSource(textOf(given.stream, "stream"), textOf(given.from, "from"), commonOf(given)),
  deregister: (streams, name) => streams.deregisterSource(name),
});

/** Outputs, and the batches that their targets refused. */
export const outputRoutes: readonly Route[] = [
  ...routesOf({
    kind: "outputs",
    fields: ["stream", "target", "name", "secrets", "acks", ...NUMBERS],
    register: (streams, given) =>
      streams.registerOutput(textOf(given.stream, "stream"), textOf(given.target, "target"), {
        ...commonOf(given),
        ...(given.acks === undefined ? {} : { acks: flagOf(given.acks, "acks") }),
        ...Object.fromEntries(
          NUMBERS.filter((each) => given[each] !== undefined).map((each) => [
            each,
            numberIn(given[each], each),
          ]),
        ),
      }),
    deregister: (streams, name) => streams.deregisterOutput(name),
  }),
  {
    method: "GET",
    path: "/v1/outputs/:name/dead-letters",
    scope: "read",
    async run({ response, streams, name }) {
      json(response, { deadLetters: await streams.outputs.deadLetters(name) });
    },
  },
  {
    method: "POST",
    path: "/v1/outputs/:name/dead-letters/:number/replay",
    scope: "define",
    async run({ response, streams, name, part }) {
      await streams.outputs.replay(name, numberOf(part) ?? 0);
      json(response, {});
    },
  },
  {
    method: "DELETE",
    path: "/v1/outputs/:name/dead-letters/:number",
    scope: "define",
    async run({ response, streams, name, part }) {
      await streams.outputs.drop(name, numberOf(part) ?? 0);
      json(response, {});
    },
  },
];
