import type { IncomingMessage } from "node:http";
import { HeadwaterError } from "../errors.js";
import { cannotStart } from "./limits.js";
import { shown } from "./log.js";

/**
 * Browsers say which page a request comes from. Pages of listed origins may ask; others may not, or every
 * page in a browser could use any server that the browser can reach.
 *
 * That the Origin equals the Host proves nothing by itself: a stranger's page can have its own name lead here (DNS
 * rebinding), and then both are that name. Only the names of the loopback interface cannot be made to lead elsewhere
 * first, so they are believed, and only by a server on the loopback.
 */
export class Origins {
  readonly #allowed: ReadonlySet<string>;

  constructor(
    allowed: readonly string[],
    readonly isLoopback: boolean,
  ) {
    for (const origin of allowed) {
      if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
        throw cannotStart(`${JSON.stringify(origin)} is not an origin such as "https://example.org"`);
      }
    }
    this.#allowed = new Set(allowed);
  }

  /** The origin to allow in the reply, if the request named one. */
  check({ headers: { origin, host } }: IncomingMessage): string | null {
    if (origin === undefined) return null; // not a page of a browser
    if (this.#allowed.has(origin) || (this.isLoopback && isOwn(origin, host))) return origin;
    throw new HeadwaterError(
      "HW-4012",
      `the request comes from a web page of the origin ${shown(origin)}, which is not listed. If its pages may ask, ` +
        "list it: `origins` of `serve`, or `headwater run --origins`.",
    );
  }
}

function isOwn(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { host: from, hostname } = new URL(origin);
  return from === host.toLowerCase() && isLoopback(hostname);
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
