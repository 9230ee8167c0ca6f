import { HeadwaterError, invariant } from "../errors.js";
import type { Api, ApiFunction } from "../model/api.js";
import type { Asked, Door, ResultCallbacks } from "../model/door.js";
import { INVOKE, type InvocationScope, reference } from "../model/refs.js";
import { type Called, learned } from "./expected-reply.js";
import { shown } from "./log.js";

/** What an API function asked for, and the promise that it was given for it. */
interface Noted {
  readonly asked: Asked;
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes the one request of an API function. */
export type Ask = (asked: Asked, waiting: ResultCallbacks) => void;

const ARGUMENTS_MAX = 64;

/** Runs functions of an API, each of which makes one request of the program. */
export class Calls {
  readonly #functions = new Map<string, Callable>();

  constructor(
    readonly door: Door,
    api: Pick<Api, "program" | "functions">,
  ) {
    refuseOtherProgram(door, api);
    for (const [name, each] of api.functions) this.#functions.set(name, new Callable(name, each, door));
  }

  /** Functions that are no part of what callers may ask for. */
  static forFunctions(door: Door, program: Api["program"], functions: Api["functions"]): Calls {
    return new Calls(door, { program, functions });
  }

  find(name: string): Called | undefined {
    return this.#functions.get(name);
  }

  /** Calls a function with what a stranger has sent as its arguments, and says what came of it. Never throws. */
  call(name: string, args: unknown, ask: Ask, waiting: ResultCallbacks): void {
    try {
      const found = this.#functions.get(name);
      if (found === undefined) {
        throw new HeadwaterError("HW-4004", `there is no API function ${shown(name)}.`);
      }
      if (!Array.isArray(args) || args.length > ARGUMENTS_MAX) {
        throw new HeadwaterError(
          "HW-4005",
          `the arguments of ${name}(…) must be a list of at most ${ARGUMENTS_MAX} values.`,
        );
      }
      found.call(args, ask, waiting);
    } catch (error) {
      waiting.reject(error);
    }
  }
}

/**
 * One function of an API. Its request is noted while it runs, and made when it has returned: one that makes several,
 * or none, has then changed nothing.
 */
class Callable implements Called {
  readonly #name: string;
  readonly #function: ApiFunction;
  readonly #door: Door;
  readonly #roots: unknown;
  #isRunning = false;
  #noted: Noted | null = null;
  #count = 0;
  expectedBytes = 0;

  constructor(name: string, apiFunction: ApiFunction, door: Door) {
    this.#name = name;
    this.#function = apiFunction;
    this.#door = door;
    const scope: InvocationScope = {
      [INVOKE]: (target, method, args) => this.#note({ target, method, args }),
    };
    const roots = [...door.roots].map(([node, root]) => [node, reference(scope, root)] as const);
    this.#roots = door.isSingle ? roots[0]?.[1] : Object.fromEntries(roots);
  }

  replied(bytes: number): void {
    this.expectedBytes = learned(this.expectedBytes, bytes);
  }

  call(args: unknown[], ask: Ask, waiting: ResultCallbacks): void {
    const checked = this.#function.check?.(...args);
    const given = Array.isArray(checked) ? checked : args;
    this.#isRunning = true;
    this.#noted = null;
    this.#count = 0;
    let result: unknown;
    try {
      result = this.#function.call(this.#roots, ...given);
    } catch (error) {
      this.#door.failed(this.#name, error);
      throw error;
    } finally {
      this.#isRunning = false;
    }
    const noted = this.#noted as Noted | null;
    this.#noted = null;
    if (noted === null || this.#count > 1) {
      Promise.resolve(result).catch(() => {}); // it will not be awaited
      const error = noted === null ? none(this.#name) : tooMany(this.#name);
      this.#door.failed(this.#name, error);
      throw error;
    }
    if (result === noted.promise) ask(noted.asked, new Passing(noted, waiting));
    else this.#askAndGoOn(noted, result, ask, waiting);
  }

  /** The function does something with what comes of its request. What the request fails with is reported elsewhere. */
  #askAndGoOn(noted: Noted, result: unknown, ask: Ask, waiting: ResultCallbacks): void {
    let reason: unknown;
    Promise.resolve(result).then(
      (value) => waiting.resolve(value),
      (error: unknown) => {
        if (error !== reason) this.#door.failed(this.#name, error);
        waiting.reject(error);
      },
    );
    const reject = (error: unknown) => {
      reason = error;
      noted.reject(error);
    };
    ask(noted.asked, { resolve: noted.resolve, reject });
  }

  #note(asked: Asked): Promise<unknown> {
    if (!this.#isRunning) return Promise.reject(tooMany(this.#name));
    this.#count += 1;
    const promise = new Promise<unknown>(keepSettlers);
    this.#noted = { asked, promise, resolve: lastResolve, reject: lastReject };
    return promise;
  }
}

let lastResolve: (value: unknown) => void;
let lastReject: (error: unknown) => void;

/** One function for all requests: a closure for each would cost more than the promise. */
function keepSettlers(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}

/**
 * For a function that returns the promise of its request as it is: what comes of it is passed on at once. The promise
 * is settled, too, should the function have kept an eye on it.
 */
class Passing implements ResultCallbacks {
  trace: string | undefined;

  constructor(
    readonly noted: Noted,
    readonly waiting: ResultCallbacks,
  ) {}

  resolve(value: unknown): void {
    this.noted.resolve(value);
    this.waiting.resolve(value);
  }

  reject(error: unknown): void {
    this.noted.promise.catch(() => {});
    this.noted.reject(error);
    this.waiting.reject(error);
  }
}

function refuseOtherProgram({ roots }: Door, { program }: Pick<Api, "program">): void {
  const wanted = typeof program === "function" ? [program] : Object.values(program);
  const running = [...roots.values()].map(({ shape }) => shape.cls);
  invariant(running.length > 0, "a program runs without a root");
  if (wanted.length === running.length && wanted.every((cls) => running.includes(cls))) return;
  const [named, found] = [wanted, running].map((classes) => classes.map((cls) => cls.name).join(", "));
  throw new HeadwaterError(
    "HW-4001",
    `the API cannot be exposed: it is for ${named}, but the service runs ${found}. Pass the classes that run.`,
  );
}

function none(name: string): HeadwaterError {
  return new HeadwaterError(
    "HW-4002",
    `the API function ${name} returned without having made a request. Let it call one method through the reference ` +
      "it is given, before it awaits anything else, and return what that returns.",
  );
}

function tooMany(name: string): HeadwaterError {
  return new HeadwaterError(
    "HW-4003",
    `the API function ${name} made more than one request. Each would be an event of its own, with others in between, ` +
      "and only the first could be kept from happening twice: write one method that does it all, and call that.",
  );
}
