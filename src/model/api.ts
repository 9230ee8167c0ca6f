import { HeadwaterError } from "../errors.js";
import type { Context, ContextClass } from "./context.js";
import type { Ref } from "./refs.js";

/**
 * What callers outside may ask of a program, and under which names. Nothing else is reachable: a server knows the
 * program only through an `Api`.
 */

type Nodes = Readonly<Record<string, ContextClass<Context>>>;

/** What an API function is given: a reference to the root, or to the root of each logical node. */
type Reached<P> =
  P extends ContextClass<infer C>
    ? Ref<C>
    : { readonly [Name in keyof P]: P[Name] extends ContextClass<infer C> ? Ref<C> : never };

type Call<R> = (root: R, ...args: never[]) => Promise<unknown>;

/** A function that makes one request; with `check`, one that looks at the arguments first and throws if they are wrong. */
type Entry<R> = Call<R> | { readonly request: Call<R>; readonly check: (...args: unknown[]) => unknown };

type Entries<R> = Readonly<Record<string, Entry<R>>>;

declare const ENTRIES: unique symbol;

export interface ApiFunction {
  readonly call: (root: unknown, ...args: unknown[]) => unknown;
  /** Throws if arguments are wrong; a list that it returns takes their place. */
  readonly check: ((...args: unknown[]) => unknown) | null;
}

/** Requests that a server makes when client sessions come and go. */
export interface SessionEvents<R> {
  /** A session has a connection: a new one, or one that was reported as disconnected and is back. */
  connected(root: R, session: string): Promise<unknown>;
  /** A session has had no connection for `awayMs` of the server, or is over. */
  disconnected(root: R, session: string): Promise<unknown>;
  /** The sessions that the program takes for connected. A server that starts reports those of them that do not come back. */
  present(root: R): Promise<Iterable<string>>;
}

/** The named functions of a program that callers outside may use. `E` carries their types to the client. */
export interface Api<E = unknown> {
  readonly program: ContextClass | Readonly<Record<string, ContextClass>>;
  readonly functions: ReadonlyMap<string, ApiFunction>;
  readonly sessions: SessionEvents<never> | null;
  readonly [ENTRIES]?: E;
}

type Called<F> = F extends (root: never, ...args: infer A) => infer R
  ? (...args: A) => Promise<Awaited<R>>
  : F extends { readonly request: (root: never, ...args: infer A) => infer R }
    ? (...args: A) => Promise<Awaited<R>>
    : never;

/** An API as its callers see it: the same functions, without the root. */
export type Client<A> = A extends Api<infer E> ? { readonly [Name in keyof E]: Called<E[Name]> } : never;

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** JavaScript itself asks any object for these. */
const TAKEN = new Set(["then", "constructor", "toJSON", "toString", "valueOf"]);

/**
 * Says what callers outside may ask for: `expose(Game, { census: (game) => game.census() })`. Each function gets a
 * reference to the root (or, for several logical nodes, an object of them) and what the caller passed, and makes
 * exactly one request through it before it returns. `sessions` are requests that the server makes when clients come and go.
 */
export function expose<P extends ContextClass<Context> | Nodes, E extends Entries<Reached<P>>>(
  program: P,
  entries: E,
  sessions?: SessionEvents<Reached<P>>,
): Api<E> {
  const functions = new Map<string, ApiFunction>();
  for (const [name, entry] of Object.entries(entries) as [string, unknown][]) {
    functions.set(name, checked(name, entry));
  }
  if (functions.size === 0) throw malformed("it has no functions, so there is nothing to ask for");
  return { program, functions, sessions: (sessions as SessionEvents<never> | undefined) ?? null };
}

function checked(name: string, entry: unknown): ApiFunction {
  if (!NAME.test(name) || TAKEN.has(name)) {
    throw malformed(
      `${JSON.stringify(name)} cannot be the name of an API function. Names are letters, digits and "_", begin with ` +
        `a letter, have at most 64 characters, and are none of ${[...TAKEN].join(", ")}`,
    );
  }
  if (typeof entry === "function") return { call: entry as ApiFunction["call"], check: null };
  const { request, check } = (entry ?? {}) as { request?: unknown; check?: unknown };
  if (typeof request === "function" && typeof check === "function") {
    return { call: request as ApiFunction["call"], check: check as NonNullable<ApiFunction["check"]> };
  }
  throw malformed(`"${name}" is neither a function nor an object of two functions, { check, request }`);
}

function malformed(why: string): HeadwaterError {
  return new HeadwaterError("HW-4001", `the API cannot be exposed: ${why}.`);
}
