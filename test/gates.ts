import { waitFor } from "./waits.js";

/** Lets a test decide when a method goes on, so that interleavings are chosen and not left to chance. */
export class Gates {
  readonly #gates = new Map<string, Gate>();

  /** In a method: says that it got here, and waits until the test lets it through. */
  pass(name: string): Promise<void> {
    const gate = this.#gate(name);
    gate.visits += 1;
    gate.reached.resolve();
    return waitFor(`for the gate "${name}" to be opened`, gate.opened.promise);
  }

  /** In a test: resolves when a method has got to the gate. */
  reached(name: string): Promise<void> {
    return waitFor(`for a method to get to the gate "${name}"`, this.#gate(name).reached.promise);
  }

  /** How often a method has got to the gate; more than once for an event that was started again. */
  visits(name: string): number {
    return this.#gate(name).visits;
  }

  /** Lets through whoever waits there and whoever comes later. */
  open(...names: string[]): void {
    for (const name of names) this.#gate(name).opened.resolve();
  }

  #gate(name: string): Gate {
    let gate = this.#gates.get(name);
    if (gate === undefined) {
      gate = { reached: signal(), opened: signal(), visits: 0 };
      this.#gates.set(name, gate);
    }
    return gate;
  }
}

interface Gate {
  readonly reached: Signal;
  readonly opened: Signal;
  visits: number;
}

interface Signal {
  readonly promise: Promise<void>;
  resolve(): void;
}

function signal(): Signal {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/**
 * Lets everything go on that can go on without a gate being opened: nothing in memory takes more turns of the
 * event loop than this.
 */
export async function turns(count = 10): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Whether a promise has been settled, without waiting for it. */
export function watch(promise: Promise<unknown>): { settled: boolean } {
  const watched = { settled: false };
  const settle = () => {
    watched.settled = true;
  };
  promise.then(settle, settle);
  return watched;
}
