import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../../errors.js";
import type { Granted, StreamService } from "../service/index.js";
import { checkNames } from "./body.js";
import type { Route } from "./route.js";
import { routesAt } from "./routes.js";

/** Answers a request of a caller that is known: what the path and the method ask of its tenant, if its scopes allow that. */
export async function answer(
  service: StreamService,
  granted: Granted,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const { routes, names } = routesAt(url.pathname);
  const route = routes.find(({ method }) => method === request.method);
  if (route === undefined)
    throw routes.length === 0
      ? new HeadwaterError("HW-4004", "there is nothing at this path.")
      : new HeadwaterError("HW-4005", `this path takes ${routes.map(({ method }) => method).join(", ")}.`);
  checkScope(granted, route);
  checkNames(url.searchParams.keys(), route.parameters ?? [], "the query string");
  const [name = "", part = ""] = names.map(decoded);
  const { tenant } = granted;
  const streams = await service.tenant(tenant);
  await route.run({ request, response, url, name, part, streams, granted, service });
}

/** An admin may do all that concerns its tenant; only an operator may do what concerns others. */
function checkScope({ scopes }: Granted, { scope }: Route): void {
  if (scopes.includes(scope) || (scope !== "operator" && scopes.includes("admin"))) return;
  throw new HeadwaterError("HW-5409", `this token does not have the scope "${scope}".`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HeadwaterError("HW-4005", "the path is not well formed.");
  }
}
