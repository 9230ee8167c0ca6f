import { bodyOf, objectOf, textOf, textsOf } from "./body.js";
import { BODY_BYTES_MAX, json, numberOf, type Route } from "./route.js";

const NUMBERS = ["from", "attempts", "backoffMs", "timeoutMs", "batchRows"] as const;

/** Outputs: registered, watched, deregistered, and the batches that their targets refused. */
export const outputRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/outputs",
    scope: "define",
    async run({ request, response, streams }) {
      const asked = objectOf(await bodyOf(request, BODY_BYTES_MAX));
      const { stream, target, name, secrets, acks } = asked;
      const id = await streams.registerOutput(textOf(stream, "stream"), textOf(target, "target"), {
        ...(name === undefined ? {} : { name: textOf(name, "name") }),
        ...(secrets === undefined ? {} : { secrets: textsOf(secrets, "secrets") }),
        ...(acks === undefined ? {} : { acks: acks === true }),
        ...Object.fromEntries(
          NUMBERS.filter((each) => asked[each] !== undefined).map((each) => [each, Number(asked[each])]),
        ),
      });
      json(response, { id }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/outputs",
    scope: "read",
    async run({ response, streams }) {
      json(response, { outputs: await streams.outputs.list() });
    },
  },
  {
    method: "GET",
    path: "/v1/outputs/:name",
    scope: "read",
    async run({ response, streams, name }) {
      json(response, await streams.outputs.status(name));
    },
  },
  {
    method: "DELETE",
    path: "/v1/outputs/:name",
    scope: "define",
    async run({ response, streams, name }) {
      await streams.deregisterOutput(name);
      json(response, {});
    },
  },
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
