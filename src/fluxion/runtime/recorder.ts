import { decode, encode } from "./codec.js";
import { EFFECTS_MAX, METHODS, type RecordedEffect } from "./effects.js";
import type { ReceiverKind } from "./manifest.js";
import { StageRefusal } from "./refusal.js";

/**
 * What stands in a worker for the objects that stay on the main loop. What a stage does to it is written down and done
 * by the main loop when the stage has ended, in the same order.
 *
 * Arguments of methods are copied when they are called, as a response writes down what it is given at once. What is
 * assigned or passed to `next` is the program's own object from then on, and is copied once, when the stage has ended.
 */
export class Recording {
  readonly effects: RecordedEffect[] = [];
  readonly receivers: readonly unknown[];
  /** Why this cannot be done in a worker, if it cannot. The stage may have caught the error, so it is kept here. */
  refusal: StageRefusal | null = null;
  #isOver = false;

  constructor(kinds: readonly ReceiverKind[]) {
    this.receivers = kinds.map((kind, i) => (kind === "next" ? this.#function(i) : this.#object(i, kind)));
  }

  /** Nothing more can be recorded: the effects are on their way. */
  end(): void {
    this.#isOver = true;
  }

  #function(receiver: number): (...args: unknown[]) => void {
    return (...args) => {
      this.#did([receiver, "apply", "", args]);
    };
  }

  #object(receiver: number, kind: ReceiverKind): object {
    const methods = METHODS[kind];
    const made = new Map<string, unknown>();
    const method = (name: string) => {
      return (...args: unknown[]) => {
        this.#did(this.#call(receiver, name, args));
        return kind === "console" ? undefined : proxy;
      };
    };
    const proxy: object = new Proxy(Object.create(null) as object, {
      get: (_, name) => {
        if (name === "then") return undefined; // `await` asks for that
        if (typeof name === "symbol" || !methods.has(name))
          return this.#refuse(`${kind}.${String(name)} is read`);
        let known = made.get(name);
        if (known === undefined) made.set(name, (known = method(name)));
        return known;
      },
      set: (_, name, value) => {
        if (typeof name === "symbol") return this.#refuse(`a symbol of a ${kind} is assigned`);
        this.#did([receiver, "set", name, value]);
        return true;
      },
      has: (_, name) => this.#refuse(`whether a ${kind} has ${String(name)} is asked`),
      deleteProperty: (_, name) => this.#refuse(`${String(name)} of a ${kind} is deleted`),
      ownKeys: () => this.#refuse(`the fields of a ${kind} are read`),
      defineProperty: () => this.#refuse(`a field of a ${kind} is defined`),
      getPrototypeOf: () => this.#refuse(`the class of a ${kind} is asked for`),
      getOwnPropertyDescriptor: () => this.#refuse(`the fields of a ${kind} are read`),
    });
    return proxy;
  }

  #call(receiver: number, name: string, args: unknown[]): RecordedEffect {
    if (args.every((each) => typeof each !== "object" && typeof each !== "function")) {
      return [receiver, "call", name, args];
    }
    try {
      return [receiver, "callWith", name, encode(args)];
    } catch (error) {
      return this.#refuse(error instanceof Error ? error.message : String(error));
    }
  }

  #did(effect: RecordedEffect): void {
    if (this.#isOver) this.#refuse("an effect came after the end of its stage");
    if (this.effects.length === EFFECTS_MAX) this.#refuse("there are too many effects");
    this.effects.push(effect);
  }

  #refuse(why: string): never {
    this.refusal ??= new StageRefusal(why);
    throw this.refusal;
  }
}

type Callable = (...args: readonly unknown[]) => unknown;

/** Does to the receivers what was done to their stand-ins. An effect that throws is the last, as in the program. */
export function replay(effects: readonly RecordedEffect[], receivers: readonly unknown[]): void {
  for (const [i, did, name, given] of effects) {
    const receiver = receivers[i] as Record<string, unknown>;
    switch (did) {
      case "call":
        (receiver[name] as Callable).apply(receiver, given as unknown[]);
        break;
      case "callWith":
        (receiver[name] as Callable).apply(receiver, decode(given) as unknown[]);
        break;
      case "set":
        receiver[name] = given;
        break;
      case "apply":
        (receiver as unknown as Callable)(...given);
    }
  }
}
