type Settler = (value: unknown) => void;

function nothing(): void {}

let lastResolve: Settler = nothing;
let lastReject: Settler = nothing;

/** One function for all promises, and no object: each call makes one. */
function keepSettlers(resolve: Settler, reject: Settler): void {
  lastResolve = resolve;
  lastReject = reject;
}

/** A name that a class cannot give to a getter in the usual way. */
const CONSTRUCTOR = "constructor";

/**
 * A promise inside an event: it knows whether anybody waits for it. `await`, `Promise.all` and the like do, and so does
 * code that makes another promise of it with `then`, `catch` or `finally`, which is to be awaited in its turn.
 */
export class Watched extends Promise<unknown> {
  /** How often it was awaited. */
  #waits = 0;
  hasEnded = false;
  onEnd: (() => void) | null = null;
  /** What the program has made of this one, and of what it has made of that. */
  followUps: Watched[] | null = null;
  /** What the program has made this one of, if anything. */
  #origin: Watched | null = null;
  readonly #resolve: Settler;
  readonly #reject: Settler;

  constructor() {
    super(keepSettlers);
    this.#resolve = lastResolve;
    this.#reject = lastReject;
  }

  /**
   * `await` and `Promise.resolve` ask what they get for its constructor: an ordinary promise they take as it is, without
   * calling its `then`. So this tells that it is awaited, and makes awaiting it as cheap as awaiting any promise.
   */
  override get [CONSTRUCTOR](): PromiseConstructor {
    this.#waits += 1;
    return Promise;
  }

  get wasAwaited(): boolean {
    return this.#waits > 0;
  }

  /** Has it ended, and can nothing have followed from that but what its one awaiter did? */
  get isOver(): boolean {
    return this.hasEnded && this.#waits === 1 && this.followUps === null;
  }

  end(ok: boolean, value: unknown): void {
    this.hasEnded = true;
    if (ok) this.#resolve(value);
    else this.#fail(value);
    if (this.onEnd !== null) this.onEnd();
  }

  /** Not awaiting it is reported as such; it must not count as an unhandled rejection, too. */
  #fail(reason: unknown): void {
    this.#then(undefined, nothing);
    this.#reject(reason);
  }

  /** Is it, and everything that was made of it, not awaited? */
  get isForgotten(): boolean {
    if (!this.wasAwaited) return true;
    return this.followUps?.some(({ wasAwaited }) => !wasAwaited) ?? false;
  }

  /** Awaited promises that have not settled: this one, and those made of it. */
  addOpen(open: Watched[]): void {
    if (this.wasAwaited && !this.hasEnded) open.push(this);
    for (const each of this.followUps ?? []) if (each.wasAwaited && !each.hasEnded) open.push(each);
  }

  /** Waits, as JavaScript itself does. */
  wait(onValue: (value: unknown) => void, onError: (reason: unknown) => void): void {
    this.#waits += 1;
    this.#then(onValue, onError);
  }

  /** JavaScript's own asks for the constructor, too. */
  #then<A, B>(
    onValue: ((value: unknown) => A | PromiseLike<A>) | null | undefined,
    onError: ((reason: unknown) => B | PromiseLike<B>) | null | undefined,
  ): Promise<A | B> {
    const waits = this.#waits;
    const next = super.then(onValue, onError);
    this.#waits = waits;
    return next;
  }

  // biome-ignore lint/suspicious/noThenProperty: seeing that it is awaited is this class's purpose.
  override then<A = unknown, B = never>(
    onValue?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#waits += 1;
    const next = this.#then(onValue, onError);
    return settlesAPromise(onValue) || settlesAPromise(onError) ? next : this.#follow(next);
  }

  /** What it passes to `then` is JavaScript's own, though what it makes is the program's. */
  override finally(callback?: (() => void) | null): Promise<unknown> {
    return this.#follow(super.finally(callback));
  }

  #follow<T>(next: Promise<T>): Promise<T> {
    const made = new Watched();
    made.#origin = this.#origin ?? this;
    made.#origin.followUps ??= [];
    made.#origin.followUps.push(made);
    next.then(
      (value) => made.end(true, value),
      (error: unknown) => made.end(false, error),
    );
    return made as Promise<T>;
  }
}

/** Looking at what a method returned may throw: it may be anything. */
export function isThenable(result: unknown): result is PromiseLike<unknown> {
  return (
    typeof result === "object" &&
    result !== null &&
    typeof (result as PromiseLike<unknown>).then === "function"
  );
}

const nativeThen = Promise.prototype.then;

/**
 * Waits for what a method has returned. Every runtime must find out at the same moment, between the same two steps of
 * the method's own code.
 */
export function awaitResult(
  result: PromiseLike<unknown>,
  returned: (value: unknown) => void,
  threw: (reason: unknown) => void,
): void {
  if (result instanceof Watched) result.wait(returned, threw);
  else if (result.then === nativeThen) result.then(returned, threw);
  else new Promise((resolve) => resolve(result)).then(returned, threw); // it may call back at once, or twice
}

const textOf = Function.prototype.toString;
let settlerText = "";
void new Promise((resolve) => {
  settlerText = textOf.call(resolve);
});

/** Is it one of the functions that settle a promise? That is what `await` and its like pass to `then`. */
function settlesAPromise(callback: unknown): boolean {
  return typeof callback === "function" && callback.name === "" && textOf.call(callback) === settlerText;
}
