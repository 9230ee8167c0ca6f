import { HeadwaterError } from "../errors.js";

const KEYS_MAX = 10_000;

/**
 * What HTTP callers have used their keys for. The runtime keeps the answers; this keeps a caller who uses a key for
 * something else from getting the answer to something it did not ask. The last keys only: it finds mistakes, and a
 * mistake soon shows.
 */
export class IdempotencyKeys {
  readonly #used = new Map<string, string>();

  refuseOther(id: string, digest: string): void {
    const known = this.#used.get(id);
    if (known !== undefined && known !== digest) {
      throw new HeadwaterError(
        "HW-4019",
        "this Idempotency-Key was used for another request, with another function or other arguments. Use a new key for " +
          "each request, and the same one only to send the same request again.",
      );
    }
    this.#used.delete(id);
    this.#used.set(id, digest);
    const [oldest] = this.#used.keys();
    if (this.#used.size > KEYS_MAX && oldest !== undefined) this.#used.delete(oldest);
  }
}
