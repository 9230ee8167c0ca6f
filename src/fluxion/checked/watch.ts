import { types } from "node:util";
import { StageRefusal } from "../runtime/refusal.js";

/** Under this name the guards in texts find what they ask. */
export const GUARDS = "$hwGuards";

/**
 * What a thread is doing: nothing that is watched; loading the program's packages; doing again what the main loop did before there were
 * threads, which may change what lasts; or a call, which may not.
 */
export const MODE = { idle: 0, loading: 1, again: 2, call: 3 } as const;
type Mode = (typeof MODE)[keyof typeof MODE];

const { getPrototypeOf } = Object;
/** As the language has it: the method will ask whether sets like our own are old. */
const add: (to: WeakSet<object>, object: object) => void = Function.prototype.call.bind(
  WeakSet.prototype.add,
);
const objects = Object.prototype;
const arrays = Array.prototype;

/** It cannot be known that a call does the same here as on the main loop, and changes nothing that lasts. */
export class Discarded extends StageRefusal {}

/** What is known of the calls of this thread, and what the guards ask. One for the whole thread. */
class Watch {
  mode: Mode = MODE.idle;
  /** The number of the call: variables of functions that ran in another one are older. */
  call = 0;
  /** Objects that are older than the call. */
  old = new WeakSet<object>();
  /** Objects that inherit nothing and that the call has made. */
  fresh = new WeakSet<object>();
  /** What is wrong with the call, or with loading. */
  failure: string | null = null;
  /** What was changed that lasts, while a call was done again. */
  wrote: string | null = null;

  /** The two objects that were written last, and are not old: mostly it is one of them again. */
  #last: unknown = null;
  #before: unknown = null;

  /** Before a write to an object. */
  readonly write = <T>(object: T): T => {
    if (this.mode < MODE.again || object === this.#last || object === this.#before) return object;
    if (object === null || (typeof object !== "object" && typeof object !== "function")) return object;
    if (this.isOld(object)) this.lasts("an object that is older than the call");
    else {
      this.#before = this.#last;
      this.#last = object;
    }
    return object;
  };

  /** Another call begins, or ends: what was new is not any more. */
  enter(mode: Mode): void {
    this.mode = mode;
    this.#last = null;
    this.#before = null;
  }

  /** Before `lastIndex` is written: what expressions remember is compared when the call has ended. */
  readonly index = <T>(object: T): T => (types.isRegExp(object) ? object : this.write(object));

  /** Before a write to a variable of a function around, which ran as a part of that call. */
  readonly captured = (call: number): void => {
    if (call !== this.call) this.outer();
  };

  /** Before a write to a variable of a file, or to a global one. */
  readonly outer = (): void => {
    if (this.mode >= MODE.again) this.lasts("a variable that outlives the call");
  };

  /** What an asynchronous function throws is a rejection without a handler, so nothing is thrown. */
  readonly later = (): void => {
    if (this.mode !== MODE.idle) this.failure ??= `it goes on later${this.#place()}`;
  };
  readonly loads = (): void => this.deny("imports a module while it runs");
  readonly makes = (): void => this.deny("makes code");

  /** An object was made that may inherit nothing. */
  readonly made = <T extends object>(object: T): T => {
    if (this.mode === MODE.call) add(this.fresh, object);
    else add(this.old, object);
    return object;
  };

  isOld(object: object): boolean {
    if (this.old.has(object)) return true;
    const prototype: unknown = getPrototypeOf(object);
    if (prototype === objects || prototype === arrays) return false;
    if (ArrayBuffer.isView(object) && this.old.has(object.buffer)) return true;
    for (let at = prototype; at !== objects; at = getPrototypeOf(at))
      if (at === null) return !this.fresh.has(object);
    return false;
  }

  lasts(what: string): void {
    if (this.mode === MODE.again) this.wrote ??= `${what}${this.#place()}`;
    else if (this.mode === MODE.call) this.#fail(`writes to ${what}`);
  }

  deny(what: string): void {
    if (this.mode !== MODE.idle) this.#fail(what);
  }

  #fail(what: string): never {
    this.failure ??= `it ${what}${this.#place()}`;
    throw new Discarded(this.failure);
  }

  /** Where the package does what it should not. */
  #place(): string {
    const { mode } = this;
    this.mode = MODE.idle;
    const place = placeOf(new Error("here"));
    this.mode = mode;
    return place;
  }
}

/** The first line that is neither ours nor Node's. */
function placeOf({ stack = "" }: Error): string {
  const own = import.meta.url.replace(/^file:\/\//, "").replace(/[^/]*$/, "");
  for (const line of stack.split("\n").slice(1)) {
    const [, at] = /\(?((?:file:\/\/)?\/[^()]*:\d+):\d+\)?$/.exec(line) ?? [];
    const path = at?.replace(/^file:\/\//, "");
    if (path !== undefined && !line.includes("node:") && !path.startsWith(own)) return ` (${path})`;
  }
  return "";
}

export const watch = new Watch();
