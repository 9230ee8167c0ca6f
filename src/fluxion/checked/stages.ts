import { refuseObjects } from "../runtime/fidelity.js";
import { type Parcel, unpackInputs } from "../runtime/parcel.js";
import type { StageFunction } from "../runtime/work.js";
import type { HostFacts } from "./facts.js";
import { watchHost } from "./host.js";
import { watchLanguage } from "./language.js";
import { Older } from "./older.js";
import { Discarded, GUARDS, MODE, watch } from "./watch.js";

/** A call that the main loop made before there were threads. */
export type EarlierCall = readonly [id: string, parcel: Parcel];

/**
 * Stages that call packages of which nothing is known, in a thread that watches what they do. A call counts only if it has changed
 * nothing that lasts, asked for nothing that differs, and gives nothing that was there before: then it does the same on the main
 * loop. Otherwise it is refused, and so are all others from then on.
 */
export class WatchedStages {
  readonly #older: Older;

  constructor(facts: HostFacts) {
    Object.defineProperty(globalThis, GUARDS, { value: watch });
    watchLanguage();
    watchHost(facts);
    refuseObjects((object) =>
      watch.isOld(object) ? "an object that was there before is not given away" : null,
    );
    this.#older = new Older();
  }

  /** Loads packages, watched. */
  load<T>(loading: () => T): T {
    watch.mode = MODE.loading;
    try {
      return loading();
    } finally {
      watch.mode = MODE.idle;
    }
  }

  /** Does again what the main loop did when it had loaded the same. Throws if that cannot have been the same. */
  async begin(earlier: readonly EarlierCall[], find: (id: string) => StageFunction): Promise<void> {
    if (watch.failure !== null) throw new Discarded(`while it loads: ${watch.failure}`);
    this.#older.look();
    for (let i = 0; i < earlier.length; i++) {
      const [id, parcel] = earlier[i] ?? ["", []];
      await this.#again(find(id), parcel);
    }
  }

  /** What a package makes at its first call, and keeps, is there before the next. What it gave must not be a part of that. */
  async #again(run: StageFunction, parcel: Parcel): Promise<void> {
    const given = this.#first(run, parcel);
    if (given === null) return;
    await new Promise((resolve) => setImmediate(resolve)); // until then, nothing goes that was looked at
    this.#older.look();
    if (given.some((each) => each.deref() !== undefined))
      throw this.#end(`it gives what it keeps: ${watch.wrote}`);
  }

  /** What it gave, if something was changed that lasts. */
  #first(run: StageFunction, parcel: Parcel): WeakRef<object>[] | null {
    const { value, thrown } = this.#run(MODE.again, run, unpackInputs(parcel));
    const within = this.#alone(thrown?.error ?? value);
    if (this.#older.changedExpression() === null && watch.wrote === null) return null;
    return within.map((each) => new WeakRef(each));
  }

  /** The same stage, watched. */
  watched(run: StageFunction): StageFunction {
    return (inputs) => {
      const { value, thrown } = this.#run(MODE.call, run, inputs);
      const expression = this.#older.changedExpression();
      if (expression !== null) throw new Discarded(`it leaves another lastIndex in ${String(expression)}`);
      if (typeof value === "object" && value !== null && "then" in value)
        throw this.#end("it gives a promise");
      if (thrown !== null) throw thrown.error;
      return value; // whether others have it is looked at when it is copied
    };
  }

  #run(mode: typeof MODE.again | typeof MODE.call, run: StageFunction, inputs: readonly unknown[]): Ran {
    if (watch.failure !== null) throw new Discarded(watch.failure);
    watch.call += 1;
    watch.wrote = null;
    const field = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
    Error.prepareStackTrace = (error, frames) => {
      watch.deny("asks where an error comes from");
      return [String(error), ...frames].join("\n    at ");
    };
    watch.enter(mode);
    let value: unknown;
    let thrown: { error: unknown } | null = null;
    try {
      value = run(inputs, []);
    } catch (error) {
      thrown = { error };
    } finally {
      watch.enter(MODE.idle);
      Reflect.deleteProperty(Error, "prepareStackTrace");
      if (field !== undefined) Object.defineProperty(Error, "prepareStackTrace", field);
    }
    if (watch.failure !== null) throw new Discarded(watch.failure);
    return { value, thrown };
  }

  /** All that is given; throws if others had it, or a part of it, before. */
  #alone(value: unknown): object[] {
    const seen = new Set<object>();
    const due: unknown[] = [value];
    while (due.length > 0) {
      const each = due.pop();
      if ((typeof each !== "object" || each === null) && typeof each !== "function") continue;
      if (seen.has(each)) continue;
      seen.add(each);
      if (typeof each === "function") throw this.#end("it gives a function");
      if (watch.isOld(each)) throw this.#end("it gives an object that was there before");
      if (each instanceof Map) due.push(...each.keys(), ...each.values());
      if (each instanceof Set) due.push(...each);
      if (ArrayBuffer.isView(each)) continue;
      for (const key of Reflect.ownKeys(each)) due.push(Object.getOwnPropertyDescriptor(each, key)?.value);
      if ("then" in each) throw this.#end("it gives a promise");
    }
    return [...seen];
  }

  #end(why: string): Discarded {
    watch.failure = why;
    return new Discarded(why);
  }
}

interface Ran {
  readonly value: unknown;
  readonly thrown: { readonly error: unknown } | null;
}
