import { HeadwaterError } from "../../errors.js";
import { textsIn } from "./definition-routes.js";
import { asked, json, type Route } from "./route.js";

/** What tenants let each other read. */
export const shareRoutes: readonly Route[] = [
  {
    method: "PUT",
    path: "/v1/streams/:name/share",
    scope: "define",
    async run({ request, response, streams, name }) {
      const { with: shared } = await asked(request, ["with"]);
      await streams.share(name, shared === "all" ? "all" : tenantsIn(shared));
      json(response, {});
    },
  },
  {
    method: "DELETE",
    path: "/v1/streams/:name/share",
    scope: "define",
    async run({ response, streams, name }) {
      await streams.unshare(name);
      json(response, {});
    },
  },
  {
    method: "GET",
    path: "/v1/shared",
    scope: "read",
    async run({ response, streams }) {
      json(response, { streams: await streams.shared() });
    },
  },
];

const TENANTS_MAX = 1000;

/** Names of tenants. Whether there are such tenants stays secret. */
function tenantsIn(value: unknown): readonly string[] {
  const tenants = textsIn(value, "with");
  if (tenants.length <= TENANTS_MAX && tenants.every((each) => each.length <= 40)) return tenants;
  throw new HeadwaterError("HW-4005", `"with" is "all", or the names of at most ${TENANTS_MAX} tenants.`);
}
