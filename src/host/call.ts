import type { Method } from "../model/shape.js";
import type { Slot } from "./slot.js";

/** What a call below returns: a promise that knows whether anybody ever waited for it. */
export class Call extends Promise<unknown> {
  /** Promises derived from this one are ordinary. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  slot: Slot | null = null;
  method: Method | null = null;
  wasAwaited = false;
  hasEnded = false;

  // biome-ignore lint/suspicious/noThenProperty: seeing that a call is awaited is this class's purpose.
  override then<A = unknown, B = never>(
    onValue?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.wasAwaited = true;
    return super.then(onValue, onError);
  }

  /** Not awaiting a call is reported as such; it must not also count as an unhandled rejection. */
  quiet(): void {
    super.then(undefined, () => {});
  }
}
