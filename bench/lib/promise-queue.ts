import type { Subject } from "./subject.js";
import { spin } from "./work.js";

/**
 * What one would write by hand: a typed reference makes a message, the message waits its turn in one
 * first-in-first-out queue, is dispatched to a method of an object found in a Map, and settles a promise.
 * One event at a time, but no undo, no copies, no change tracking: the price of the bare mechanism.
 */

class Counter {
  count = 0;

  bump(work: number): number {
    spin(work);
    return ++this.count;
  }
}

interface Message {
  readonly key: number;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

class Queue {
  readonly objects = new Map<number, object>();
  #waiting: Message[] = [];
  #awake = false;

  ask(key: number, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, method, args, resolve, reject });
      if (this.#awake) return;
      this.#awake = true;
      queueMicrotask(() => this.#drain());
    });
  }

  #drain(): void {
    while (this.#waiting.length > 0) {
      const turn = this.#waiting;
      this.#waiting = [];
      for (const message of turn) this.#dispatch(message);
    }
    this.#awake = false;
  }

  #dispatch(message: Message): void {
    try {
      const object = this.objects.get(message.key) as Methods | undefined;
      const result = object?.[message.method]?.(...message.args);
      message.resolve(result);
    } catch (error) {
      message.reject(error);
    }
  }
}

type Stub<T> = {
  readonly [P in keyof T as T[P] extends (...args: never[]) => unknown ? P : never]: T[P] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<R>
    : never;
};

/** Generates the typed reference of a class: one method for each of its own, which only sends. */
function stubOf<T extends object>(cls: new () => T): new (queue: Queue, key: number) => Stub<T> {
  class Sender {
    constructor(
      readonly queue: Queue,
      readonly key: number,
    ) {}
  }
  for (const method of Object.getOwnPropertyNames(cls.prototype)) {
    if (method === "constructor") continue;
    Object.defineProperty(Sender.prototype, method, {
      value(this: Sender, ...args: unknown[]) {
        return this.queue.ask(this.key, method, args);
      },
    });
  }
  return Sender as unknown as new (
    queue: Queue,
    key: number,
  ) => Stub<T>;
}

const CounterStub = stubOf(Counter);

export async function startPromiseQueue(contexts: number): Promise<Subject> {
  const queue = new Queue();
  const counters = Array.from({ length: contexts }, () => new Counter());
  const stubs = counters.map((counter, key) => {
    queue.objects.set(key, counter);
    return new CounterStub(queue, key);
  });
  return {
    call: (counter, work) => (stubs[counter] as Stub<Counter>).bump(work),
    counted: async () => counters.reduce((sum, counter) => sum + counter.count, 0),
    stop: async () => queue.objects.clear(),
  };
}
