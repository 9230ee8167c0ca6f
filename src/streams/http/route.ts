import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../../errors.js";
import { respond } from "../../server/respond.js";
import type { Granted, TenantStreams, TokenScope } from "../service/index.js";

export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** One request that was let in. */
export interface RouteRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the path names. */
  readonly name: string;
  readonly streams: TenantStreams;
  readonly granted: Granted;
}

export interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly scope: TokenScope;
  run(asked: RouteRequest): Promise<void>;
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  respond(response, status, JSON.stringify(value));
}

/** A whole number of the query string. */
export function countOf(url: URL, name: string, otherwise: number, max: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return otherwise;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value <= max) return value;
  throw new HeadwaterError("HW-4005", `"${name}" is a whole number from 0 to ${max}.`);
}
