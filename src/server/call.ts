import { HeadwaterError, invariant } from "../errors.js";
import type { Address } from "../model/address.js";
import type { Api, ApiFunction } from "../model/api.js";
import { INVOKE, Reference, reference, type Scope } from "../model/refs.js";
import type { Method } from "../model/shape.js";
import { shown } from "./log.js";

/** On whose behalf a request is made, and under which name it has its effect once. */
export interface RequestedBy {
  readonly client?: string | undefined;
  readonly request?: string | undefined;
}

/** As much of a running program as a server needs. */
export interface Reachable {
  as(asker: RequestedBy): object;
  client(id: string, onMessage: (message: unknown) => void): { close(): void };
}

/** What a service hands out to make requests with: one root, or those of all logical nodes. */
interface Roots {
  readonly root: Reference;
  readonly nodes?: Readonly<Record<string, Reference>>;
}

interface Asked {
  readonly target: Address;
  readonly method: Method;
  readonly args: unknown[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const ARGUMENTS_MAX = 64;

/** Runs functions of an API, each of which makes one request of the program. */
export class Calls {
  constructor(
    readonly service: Reachable,
    readonly api: Api,
  ) {
    this.#refuseOtherProgram();
  }

  async call(name: string, args: unknown, asker: RequestedBy): Promise<unknown> {
    const { call, check } = this.#find(name);
    if (!Array.isArray(args) || args.length > ARGUMENTS_MAX) {
      throw new HeadwaterError(
        "HW-4005",
        `the arguments of ${name}(…) must be a list of at most ${ARGUMENTS_MAX} values.`,
      );
    }
    check?.(...args);
    return this.#once(name, call, args, asker);
  }

  #find(name: string): ApiFunction {
    const found = this.api.functions.get(name);
    if (found === undefined) throw new HeadwaterError("HW-4004", `there is no API function ${shown(name)}.`);
    return found;
  }

  /**
   * The function's request is noted while it runs, and made when it has returned: one that makes several, or none,
   * has then changed nothing.
   */
  #once(name: string, call: ApiFunction["call"], args: unknown[], asker: RequestedBy): unknown {
    const asked: Asked[] = [];
    let hasReturned = false;
    const scope: Scope = {
      [INVOKE]: (target, method, args) => {
        if (hasReturned) return Promise.reject(tooMany(name));
        return new Promise((resolve, reject) => asked.push({ target, method, args, resolve, reject }));
      },
    };
    const real = this.service.as(asker) as Roots;
    const note = (root: Reference) => reference(scope, Reference.addressOf(root));
    const result = call(real.nodes === undefined ? note(real.root) : mapped(real.nodes, note), ...args);
    hasReturned = true;
    const [request, second] = asked;
    if (second !== undefined || request === undefined) {
      Promise.resolve(result).catch(() => {}); // nobody will wait for it
      throw second === undefined ? none(name) : tooMany(name);
    }
    const { target, method } = request;
    const root = real.nodes === undefined ? real.root : real.nodes[target.node];
    invariant(root !== undefined, `a request was made of "${target.node}", which is not part of the program`);
    const made = Reference.scopeOf(root)[INVOKE](target, method, request.args);
    Promise.resolve(made).then(request.resolve, request.reject);
    return result;
  }

  #refuseOtherProgram(): void {
    const { program } = this.api;
    const wanted = typeof program === "function" ? [program] : Object.values(program);
    const { root, nodes = { root } } = this.service.as({}) as Roots;
    const running = Object.values(nodes).map((each) => Reference.addressOf(each).shape.cls);
    if (wanted.length === running.length && wanted.every((cls) => running.includes(cls))) return;
    const [named, found] = [wanted, running].map((classes) => classes.map((cls) => cls.name).join(", "));
    throw new HeadwaterError(
      "HW-4001",
      `the API cannot be exposed: it is for ${named}, but the service runs ${found}. Pass the classes that run.`,
    );
  }
}

function mapped(nodes: Readonly<Record<string, Reference>>, note: (root: Reference) => Reference): object {
  return Object.fromEntries(Object.entries(nodes).map(([name, root]) => [name, note(root)]));
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
