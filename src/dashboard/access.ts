import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HeadwaterError } from "../errors.js";

/**
 * Who may use the admin API: callers with its token. A page gets the token for a code that is good once, because a code may stand in an
 * address that a terminal prints and a browser remembers, and a token may not. Tokens travel in the Authorization header only, which
 * no other web page can make a browser send (so there is no cross-site request forgery to defend against besides).
 */
export class Access {
  readonly #token: string;
  readonly #digest: Buffer;
  readonly #codes = new Set<string>();

  constructor(token = randomBytes(32).toString("base64url")) {
    this.#token = token;
    this.#digest = digestOf(token);
  }

  /** A code that a page can exchange for the token, once. */
  code(): string {
    const code = randomBytes(16).toString("base64url");
    for (const oldest of this.#codes) {
      if (this.#codes.size < CODES_MAX) break;
      this.#codes.delete(oldest);
    }
    this.#codes.add(code);
    return code;
  }

  /** The token, for a code that was not used before. */
  exchange(code: unknown): string {
    // Codes are random and good once: how long a lookup takes tells nothing that could be used.
    if (typeof code === "string" && this.#codes.delete(code)) return this.#token;
    throw new HeadwaterError(
      "HW-4010",
      "the code in the page's address was used before, or is of another run. Open the page again from the terminal (key o), or " +
        "paste the token.",
    );
  }

  /** Whether a token is that of the dashboard. Takes the same time wherever they differ. */
  isToken(token: string): boolean {
    return timingSafeEqual(digestOf(token), this.#digest);
  }
}

/** The token that a request carries; "" if it carries none. */
export function tokenIn({ headers: { authorization = "" } }: IncomingMessage): string {
  return /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(authorization)?.[1] ?? "";
}

const CODES_MAX = 64;

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
