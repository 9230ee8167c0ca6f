import type { OutsideCall } from "../model/outside.js";
import type { View } from "../model/refs.js";
import type { Random } from "../random.js";

/** Choices that the seed of a run makes for an act. */
export type Choices = Pick<Random, "int" | "chance" | "pick">;

/** A caller of the program while it does one act. Its `root` makes requests: each is one event, and made again when it gets lost. */
export interface ActingCaller<R, W> {
  /** The root of the program; of a program with several logical nodes, an object of their roots. */
  readonly root: R;
  readonly random: Choices;
  /** The act's number in this run, from 0. */
  readonly index: number;
  /** The name by which the program knows the caller (`this.event.caller`). */
  readonly name: string;
  /** What the program has sent to the caller so far. */
  readonly messages: readonly unknown[];
  /** What `world` has made for this run. */
  readonly world: W;
}

/** What a program reaches outside, made anew for each run. Other properties are for the test itself. */
export interface OutsideFakes {
  /** Answers what outside functions ask by `fetch`. */
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  /** Functions that are called instead of outside functions, by the names of those. */
  readonly outside?: Readonly<Record<string, (input: never, call: OutsideCall) => unknown>>;
}

/** The fields of all contexts that have a state, as one moment left them. */
export interface States {
  /** The contexts of a class, with their keys. */
  all<T extends { readonly key: unknown }>(
    cls: abstract new () => T,
  ): readonly (View<T> & { readonly key: T["key"]; readonly address: string })[];
  /** The fields by address: `Bank.accounts("ada")`. */
  readonly byAddress: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** A request that has taken effect, for a model to do again. */
export interface ModelCall {
  /** The context: `Bank.accounts("ada")`. */
  readonly address: string;
  readonly key: unknown;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The name of the caller. */
  readonly caller: string | undefined;
}

export interface KitOptions<R, W extends OutsideFakes = OutsideFakes> {
  /** What a caller does, again and again: requests, one after the other or at the same time. It may assert what it gets. */
  act(caller: ActingCaller<R, W>): unknown;
  /** What is done before the first act. Nothing fails while it goes on only by luck: it is part of the run. */
  start?(caller: ActingCaller<R, W>): unknown;
  /** Throws if the states break a rule. It is asked after a crash that ends a run, and when all has come to rest. */
  invariant?(states: States): void;
  /** Throws if something is wrong when all is done and nothing goes on any more. */
  atRest?(states: States, world: W): void;
  /**
   * Makes a model: a function that does a request on plain data, and returns what the program must have returned. Its error
   * means that the program must have failed. The requests come in the order of their tickets.
   */
  model?(): (call: ModelCall) => unknown;
  /** Is this error of a request, or of an event that the program started, an answer and no bug? By default none is. */
  allow?(error: Error): boolean;
  world?(): W;
  /** How many acts a run has: 30. */
  acts?: number;
  /** How many callers share them: 3. */
  callers?: number;
  /** How many runs there are, each with a seed of its own: 50. */
  runs?: number;
  /** The seed of the first run: 1. */
  seed?: number;
  /** Do processes and disks fail? They do. */
  crashes?: boolean;
  /** Are there several hosts, which come, go, fail and lose their connections, with contexts that migrate? There are. */
  hosts?: boolean;
  /** Is the machine's clock (`this.event.time`) set forward and back now and then, by up to an hour? It is not. */
  clockJumps?: boolean;
  /** For how much virtual time timers go on after the last act: a minute. */
  lastsMs?: number;
  /** Does a failure become small before it is reported? It does. */
  shrink?: boolean;
  /** The one schedule to run, as a failure named it. `HEADWATER_REPLAY` says the same. */
  replay?: string;
}
