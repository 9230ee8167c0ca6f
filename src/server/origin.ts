import type { IncomingMessage } from "node:http";
import { HeadwaterError } from "../errors.js";
import { cannotStart } from "./limits.js";

/**
 * Browsers say which page a request comes from. Pages of this server itself and those on the list may ask; others may
 * not, or any page that somebody visits could use a server that listens on their machine.
 *
 * Being of the same origin is believed on a server for this machine only if the name is one of this machine's own:
 * a stranger's page can have its own name lead here (DNS rebinding), and then name and origin agree.
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
    if (this.#allowed.has(origin) || this.#isSame(origin, host)) return origin;
    throw new HeadwaterError(
      "HW-4012",
      "the request comes from a web page of another origin. Pages of other origins may ask if `origins` lists them.",
    );
  }

  #isSame(origin: string, host: string | undefined): boolean {
    if (host === undefined || !URL.canParse(origin)) return false;
    const { host: from, hostname } = new URL(origin);
    return from === host.toLowerCase() && (!this.isLoopback || isLoopback(hostname));
  }
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
