import { bodyOf, objectOf, textOf, textsOf } from "./body.js";
import { BODY_BYTES_MAX, json, type Route } from "./route.js";

/** Sources: registered, watched, deregistered. */
export const sourceRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/sources",
    scope: "define",
    async run({ request, response, streams }) {
      const { stream, from, name, secrets } = objectOf(await bodyOf(request, BODY_BYTES_MAX));
      const id = await streams.registerSource(textOf(stream, "stream"), textOf(from, "from"), {
        ...(name === undefined ? {} : { name: textOf(name, "name") }),
        ...(secrets === undefined ? {} : { secrets: textsOf(secrets, "secrets") }),
      });
      json(response, { id }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/sources",
    scope: "read",
    async run({ response, streams }) {
      json(response, { sources: await streams.sources.list() });
    },
  },
  {
    method: "GET",
    path: "/v1/sources/:name",
    scope: "read",
    async run({ response, streams, name }) {
      json(response, await streams.sources.status(name));
    },
  },
  {
    method: "DELETE",
    path: "/v1/sources/:name",
    scope: "define",
    async run({ response, streams, name }) {
      await streams.deregisterSource(name);
      json(response, {});
    },
  },
];
