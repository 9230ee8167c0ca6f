import { HeadwaterError } from "../errors.js";
import { type Callers, expired, type Grant, NotLookedUp } from "./tokens.js";

/**
 * Ends a connection whose token is not good any more: when it expires, or when the function that knows the tokens does
 * not know it. The function is asked again every `everyMs`, for which the token is kept as long as the connection is open.
 */
export class TokenWatch {
  readonly #callers: Callers;
  readonly #token: unknown;
  readonly #everyMs: number;
  readonly #end: (error: HeadwaterError) => void;
  #grant: Grant;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(
    callers: Callers,
    token: unknown,
    grant: Grant,
    everyMs: number,
    end: (error: HeadwaterError) => void,
  ) {
    this.#callers = callers;
    this.#token = token;
    this.#grant = grant;
    this.#everyMs = everyMs;
    this.#end = end;
    if (callers.canChange(grant)) this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Never longer than `everyMs`: the clock may be set, and Node takes no delay above 24 days. */
  #arm(): void {
    const ms = Math.min(this.#everyMs, this.#grant.expiresMs - Date.now());
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, ms)).unref();
  }

  async #look(): Promise<void> {
    const error = this.#grant.expiresMs <= Date.now() ? expired() : await this.#refusal();
    if (this.#isStopped) return;
    if (error === null) this.#arm();
    else this.#end(error);
  }

  async #refusal(): Promise<HeadwaterError | null> {
    try {
      const grant = await this.#callers.grantFor(this.#token);
      if (grant?.name !== this.#grant.name) return expired();
      this.#grant = grant;
      return null;
    } catch (error) {
      if (error instanceof NotLookedUp) return null; // a database that is away must not end every connection
      if (error instanceof HeadwaterError && error.code === "HW-4011") return error;
      return expired();
    }
  }
}
