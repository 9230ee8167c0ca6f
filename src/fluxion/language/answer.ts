/** A promise that knows whether it is awaited. */
class Awaited extends Promise<unknown> {
  isAwaited = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: seeing that an answer is awaited is this class's purpose.
  override then<A = unknown, B = never>(
    onValue?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true;
    return super.then(onValue, onError);
  }
}

/**
 * What comes of a message, for its sender: the continuation of a promise gives its value to the next one. What is
 * thrown goes there as well if it is awaited, and to the event loop if not, as from any callback.
 */
export class Answer {
  #given: { readonly value: unknown } | null = null;
  #settle: { resolve(value: unknown): void; reject(reason: unknown): void } | null = null;
  #promise: Awaited | null = null;

  /** The value, if it is there already; else a promise of it. */
  now(): unknown {
    if (this.#given !== null) return this.#given.value;
    this.#promise = new Awaited((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    return this.#promise;
  }

  give(process: () => unknown): void {
    try {
      this.#given = { value: process() };
    } catch (error) {
      if (this.#promise?.isAwaited !== true) throw error;
      this.#settle?.reject(error);
      return;
    }
    this.#settle?.resolve(this.#given.value);
  }
}
