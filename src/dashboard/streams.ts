import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../errors.js";
import type { StreamService } from "../streams/index.js";
import type { Granted } from "../streams/service/index.js";

/** The streaming service whose graphs a dashboard shows. */
export interface DashboardStreams {
  /** It may be opened only when it is first asked for. */
  service(): Promise<StreamService>;
  /** Whose a token of the service is, where tenants may look at their own streams. */
  granted?(token: string): Promise<Granted | null>;
  close(): Promise<void>;
}

/** The caller may do all that the dashboard offers, for all tenants. */
export const OPERATOR = Symbol("operator");

export type DashboardCaller = typeof OPERATOR | Granted;

/** What a page may show to its user. */
export interface DashboardSession {
  readonly isOperator: boolean;
  readonly hasStreams: boolean;
  readonly hasCluster: boolean;
  readonly scopes: readonly string[];
}

export function sessionOf(
  caller: DashboardCaller,
  streams: DashboardStreams | null,
  hasCluster: boolean,
): DashboardSession {
  const isOperator = caller === OPERATOR;
  return {
    ...{ isOperator, hasStreams: streams !== null, hasCluster },
    scopes: isOperator ? ["operator", "admin"] : caller.scopes,
  };
}

/** The tenants whose streams the caller may look at. */
export async function tenantsOf(
  caller: DashboardCaller,
  streams: DashboardStreams | null,
): Promise<readonly string[]> {
  if (caller !== OPERATOR) return [caller.tenant];
  return streams === null ? [] : (await streams.service()).tenants;
}

/**
 * `TENANT/v1/…`: a request to the streaming service on behalf of a tenant, answered by the service's own routes, which check scopes.
 * A tenant that is not the caller's is answered like one that does not exist.
 */
export async function streamsAnswer(
  caller: DashboardCaller,
  streams: DashboardStreams | null,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const [, tenant = "", rest = ""] = /^([a-z][a-z0-9-]{0,39})(\/v1\/.*)$/.exec(path) ?? [];
  const isAllowed = caller === OPERATOR || caller.tenant === tenant;
  const service = isAllowed ? await streams?.service() : undefined;
  if (service?.has(tenant) !== true) throw new HeadwaterError("HW-4004", "there is no such tenant.");
  const granted: Granted =
    caller === OPERATOR
      ? { tenant, id: "dashboard", scopes: ["operator", "admin"], expiresMs: null }
      : caller;
  const url = new URL(request.url ?? "/", "http://localhost");
  url.pathname = rest;
  // The service's routes bring the SQL parser along, which most dashboards never need.
  const { answer } = await import("../streams/http/index.js");
  await answer(service, granted, request, response, url);
}
