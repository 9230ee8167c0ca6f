import { createHash, timingSafeEqual } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import { cannotStart } from "./limits.js";

/**
 * Who may call: the SHA-256 of each caller's token in hexadecimal, by the caller's name, or a function that says
 * whose a token is. The server never keeps a token itself.
 */
export type Tokens =
  | Readonly<Record<string, string>>
  | ((token: string) => string | null | undefined | Promise<string | null | undefined>);

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;
const TOKEN_LENGTH_MAX = 4096;

interface Known {
  readonly name: string;
  readonly digest: Buffer;
}

export class Callers {
  readonly #known: readonly Known[];
  readonly #ask: Extract<Tokens, (token: string) => unknown> | null;
  readonly #revoked = new Set<string>();
  readonly #isOpen: boolean;

  constructor(tokens: Tokens | undefined) {
    this.#isOpen = tokens === undefined;
    this.#ask = typeof tokens === "function" ? tokens : null;
    this.#known = typeof tokens === "object" ? Object.entries(tokens).map(knownCaller) : [];
  }

  /** The name of the caller whose token this is; null on a server that has no tokens. */
  async nameOf(token: unknown): Promise<string | null> {
    if (this.#isOpen) return null;
    if (typeof token !== "string" || token === "" || token.length > TOKEN_LENGTH_MAX)
      throw unknown("came without a token");
    const name = this.#ask === null ? this.#find(token) : await asked(this.#ask, token);
    if (typeof name !== "string") throw unknown("has a token that is nobody's");
    if (!NAME.test(name)) throw unknown("has a token whose name is not one");
    this.refuseRevoked(name);
    return name;
  }

  refuseRevoked(name: string): void {
    if (this.#revoked.has(name)) {
      throw new HeadwaterError("HW-4011", "the token of this caller was revoked. Ask for a new one.");
    }
  }

  revoke(name: string): void {
    this.#revoked.add(name);
  }

  /** Looks at all of them, however early it finds the right one, so that time says nothing about any of them. */
  #find(token: string): string | null {
    const digest = createHash("sha256").update(token).digest();
    let found: string | null = null;
    for (const known of this.#known) if (timingSafeEqual(known.digest, digest)) found = known.name;
    return found;
  }
}

function knownCaller([name, hash]: [string, unknown]): Known {
  if (!NAME.test(name)) {
    throw cannotStart(
      `${JSON.stringify(name)} cannot be the name of a token: letters, digits, "_", ".", "@" and "-", at most 64`,
    );
  }
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/i.test(hash)) {
    // It may be the token itself, so the message does not repeat it.
    throw cannotStart(`what stands for the token of "${name}" is not a SHA-256 in 64 hexadecimal digits`);
  }
  return { name, digest: Buffer.from(hash, "hex") };
}

/** What goes wrong in there is nothing that a stranger should read. */
async function asked(ask: Extract<Tokens, (token: string) => unknown>, token: string): Promise<unknown> {
  try {
    return await ask(token);
  } catch (cause) {
    const error = unknown("has a token that could not be looked up");
    error.cause = cause;
    throw error;
  }
}

function unknown(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-4010",
    `the caller ${why}. This server answers callers with a token of its own only.`,
  );
}
