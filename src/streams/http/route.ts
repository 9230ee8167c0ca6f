import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../../errors.js";
import { respond } from "../../server/respond.js";
import type { Granted, StreamService, TenantStreams, TokenScope } from "../service/index.js";
import { bodyOf, objectOf } from "./body.js";

/** What a request may have, unpacked. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;
/** A definition is a text that people write. */
const DEFINITION_BYTES_MAX = 1024 * 1024;

/** One request that was let in. */
export interface RouteRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the path names. */
  readonly name: string;
  /** What the path names behind that, if it does. */
  readonly part: string;
  /** The streams of the caller's tenant; a route reaches no others. */
  readonly streams: TenantStreams;
  readonly granted: Granted;
  readonly service: StreamService;
}

/** What can be asked: a method, a path with at most two names in it, and the scope of the tokens that may. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `/v1/streams/:name/events` */
  readonly path: string;
  readonly scope: TokenScope;
  /** What may stand in the query string; nothing unless it is said. */
  readonly parameters?: readonly string[];
  run(asked: RouteRequest): Promise<void>;
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  respond(response, status, JSON.stringify(value));
}

/** The body of a request as a JSON object with some of these fields. */
export async function asked(
  request: IncomingMessage,
  fields: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  return objectOf(await bodyOf(request, DEFINITION_BYTES_MAX), fields);
}

/** A number of a row that a reader asks to begin with; `undefined` if it does not say. */
export function numberOf(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HeadwaterError("HW-4005", "rows are numbered from 1 on; the number that was asked for is none.");
}

/** A whole number of the query string. */
export function countOf(url: URL, name: string, otherwise: number, max: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return otherwise;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value <= max) return value;
  throw new HeadwaterError("HW-4005", `"${name}" is a whole number from 0 to ${max}.`);
}
