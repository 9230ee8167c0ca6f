import { type HeadwaterError, invariant } from "../errors.js";
import type { Method } from "../model/shape.js";
import type { Waiting } from "./request.js";
import type { Slot } from "./slot.js";

/** What a call below returns: a promise that knows whether anybody ever waited for it. */
export class Call extends Promise<unknown> {
  /** Promises derived from this one are ordinary. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  slot: Slot | null = null;
  method: Method | null = null;
  /** Where it stands among all that the method asks for. */
  position = 0;
  hasEntered = false;
  wasAwaited = false;
  hasEnded = false;
  doom: HeadwaterError | null = null;
  onEnd: (() => void) | null = null;
  #settle: Waiting | null = null;

  static make(slot: Slot, method: Method, position: number): Call {
    let settle: Waiting | null = null;
    const call = new Call((resolve, reject) => {
      settle = { resolve, reject };
    });
    call.#settle = settle;
    call.slot = slot;
    call.method = method;
    call.position = position;
    // Not awaiting a call is reported as such; it must not count as an unhandled rejection, too.
    Promise.prototype.then.call(call, undefined, () => {});
    return call;
  }

  end(ok: boolean, value: unknown): void {
    invariant(this.#settle !== null, "a call was made without Call.make");
    this.hasEnded = true;
    if (ok) this.#settle.resolve(value);
    else this.#settle.reject(value);
    this.onEnd?.();
  }

  // biome-ignore lint/suspicious/noThenProperty: seeing that a call is awaited is this class's purpose.
  override then<A = unknown, B = never>(
    onValue?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.wasAwaited = true;
    return super.then(onValue, onError);
  }
}
