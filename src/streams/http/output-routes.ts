import { bodyOf, objectOf, textOf, textsOf } from "./body.js";
import { BODY_BYTES_MAX, json, type Route } from "./route.js";

const NUMBERS = ["from", "attempts", "backoffMs", "timeoutMs", "batchRows"] as const;

/** Outputs: registered, watched, deregistered, and the batches that their targets refused. */
export const OUTPUT_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: /^\/v1\/outputs$/,
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
    path: /^\/v1\/outputs$/,
    scope: "read",
    async run({ response, streams }) {
      json(response, { outputs: await streams.outputs.list() });
    },
  },
  {
    method: "GET",
    path: /^\/v1\/outputs\/([^/]+)$/,
    scope: "read",
    async run({ response, streams, name }) {
      json(response, await streams.outputs.status(name));
    },
  },
  {
    method: "DELETE",
    path: /^\/v1\/outputs\/([^/]+)$/,
    scope: "define",
    async run({ response, streams, name }) {
      await streams.deregisterOutput(name);
      json(response, {});
    },
  },
  {
    method: "GET",
    path: /^\/v1\/outputs\/([^/]+)\/dead-letters$/,
    scope: "read",
    async run({ response, streams, name }) {
      json(response, { deadLetters: await streams.outputs.deadLetters(name) });
    },
  },
  {
    method: "POST",
    path: /^\/v1\/outputs\/([^/]+)\/dead-letters\/\d{1,15}\/replay$/,
    scope: "define",
    async run({ response, streams, name, url }) {
      await streams.outputs.replay(name, Number(url.pathname.split("/").at(-2)));
      json(response, {});
    },
  },
  {
    method: "DELETE",
    path: /^\/v1\/outputs\/([^/]+)\/dead-letters\/\d{1,15}$/,
    scope: "define",
    async run({ response, streams, name, url }) {
      await streams.outputs.drop(name, Number(url.pathname.split("/").at(-1)));
      json(response, {});
    },
  },
];
