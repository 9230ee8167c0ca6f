import { createHash, timingSafeEqual } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import { cannotStart } from "./limits.js";

/**
 * Who may call: the SHA-256 of each caller's token in hexadecimal, by the caller's name, or a function that says
 * whose a token is. The server never keeps a token itself.
 */
export type Tokens =
  | Readonly<Record<string, string | KnownToken>>
  | ((token: string) => Answer | Promise<Answer>);

/** The hash of a token that is good until then. */
interface KnownToken {
  readonly hash: string;
  readonly expires?: Date | number;
}

/** Whose a token is, and until when, if that is known; null if it is unknown. */
type Answer = string | { readonly name: string; readonly expires?: Date | number } | null | undefined;

/** Who calls, and until when the token says so. */
export interface Grant {
  readonly name: string;
  readonly expiresMs: number;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;
const TOKEN_LENGTH_MAX = 4096;

interface Known {
  readonly grant: Grant;
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

  /** The caller whose token this is; null on a server that has no tokens. */
  async grantFor(token: unknown): Promise<Grant | null> {
    if (this.#isOpen) return null;
    if (typeof token !== "string" || token === "" || token.length > TOKEN_LENGTH_MAX)
      throw unknown("came without a token");
    const grant = this.#ask === null ? this.#find(token) : await asked(this.#ask, token);
    if (grant === null) throw unknown("has an unknown token");
    if (!NAME.test(grant.name)) throw unknown("has a token whose name is not one");
    this.refuseRevoked(grant.name);
    if (!(grant.expiresMs > Date.now())) throw expired();
    return grant;
  }

  /** Can a token stop being good without anybody saying so? Then it must be asked for again now and then. */
  canChange({ expiresMs }: Grant): boolean {
    return this.#ask !== null || expiresMs < Number.POSITIVE_INFINITY;
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
  #find(token: string): Grant | null {
    const digest = createHash("sha256").update(token).digest();
    let found: Grant | null = null;
    for (const known of this.#known) if (timingSafeEqual(known.digest, digest)) found = known.grant;
    return found;
  }
}

function knownCaller([name, known]: [string, string | KnownToken]): Known {
  const { hash, expires } = typeof known === "object" && known !== null ? known : { hash: known };
  const expiresMs = timeOf(expires);
  if (Number.isNaN(expiresMs)) throw cannotStart(`the token of "${name}" expires at a time that is none`);
  if (!NAME.test(name)) {
    throw cannotStart(
      `${JSON.stringify(name)} cannot be the name of a token: letters, digits, "_", ".", "@" and "-", at most 64`,
    );
  }
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/i.test(hash)) {
    // It may be the token itself, so the message does not repeat it.
    throw cannotStart(`what stands for the token of "${name}" is not a SHA-256 in 64 hexadecimal digits`);
  }
  return { grant: { name, expiresMs }, digest: Buffer.from(hash, "hex") };
}

function timeOf(expires: unknown): number {
  return expires === undefined ? Number.POSITIVE_INFINITY : Number(expires);
}

/** What goes wrong in there is nothing that a stranger should read. */
async function asked(ask: Extract<Tokens, (token: string) => unknown>, token: string): Promise<Grant | null> {
  let answer: Answer;
  try {
    answer = await ask(token);
  } catch (cause) {
    throw new NotLookedUp(cause);
  }
  if (typeof answer === "string") return { name: answer, expiresMs: Number.POSITIVE_INFINITY };
  if (typeof answer !== "object" || answer === null) return null;
  return { name: String(answer.name), expiresMs: timeOf(answer.expires) };
}

/** The function that knows the tokens has failed, which says nothing about the token. */
export class NotLookedUp extends HeadwaterError {
  constructor(cause: unknown) {
    super("HW-4010", "the caller has a token that could not be looked up. Try again later.", { cause });
  }
}

export function expired(): HeadwaterError {
  return new HeadwaterError("HW-4041", "the token of this caller has expired. Ask for a new one.");
}

function unknown(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-4010",
    `the caller ${why}. This server answers callers with a token of its own only.`,
  );
}
