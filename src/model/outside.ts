import { HeadwaterError } from "../errors.js";

/** `AbortSignal`, wherever types of Node or of browsers are known: `headwater/client`, which leads here, needs neither. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : unknown;

/** What an outside function is told about the call, besides its input. */
export interface OutsideCall {
  /**
   * The same for every attempt at this call, also after a crash, and for no other call: hand it on as an idempotency
   * key, and what is attempted twice has its effect once.
   */
  readonly key: string;
  /** 1 for the first attempt since the program was started. */
  readonly attempt: number;
  /** Aborted when the attempt has taken too long, or the program stops. */
  readonly signal: Signal;
}

/** What came of an outside call. `ok` is false if every attempt has failed, or one has thrown `GiveUp`. */
export type OutsideResult<R> =
  | { readonly ok: true; readonly value: R }
  | { readonly ok: false; readonly error: { readonly name: string; readonly message: string } };

export interface OutsideOptions {
  /** How often it is tried before the result says that it failed. Default 10. */
  readonly attempts?: number;
  /** How long to wait after the first failure; the wait doubles each time, up to a minute. Default 500. */
  readonly backoffMs?: number;
  /** How long one attempt may take. Default 30,000. */
  readonly timeoutMs?: number;
}

type Work<I, R> = (input: I, call: OutsideCall) => Promise<R> | R;

/** Thrown by an outside function for which trying again is no use. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
}

const NAME = /^[A-Za-z][\w.-]{0,99}$/;
const known = new Map<string, Outside<never, unknown>>();
/** How many copies of programs are being loaded. */
let again = 0;

/** While another copy of a program is loaded, its outside functions have the names of the first copy's. */
export async function declareAgain<T>(load: () => Promise<T>): Promise<T> {
  again += 1;
  try {
    return await load();
  } finally {
    again -= 1;
  }
}

/** A function that events may have called after their commit: see `outside`. */
export class Outside<in I, out R> {
  readonly options: Required<OutsideOptions>;
  readonly result?: R;

  constructor(
    readonly name: string,
    readonly work: Work<I, R>,
    options: OutsideOptions,
  ) {
    this.options = { attempts: 10, backoffMs: 500, timeoutMs: 30_000, ...options };
  }

  static named(name: string): Outside<never, unknown> | undefined {
    return known.get(name);
  }
}

/**
 * Declares a function with an effect outside the program (an HTTP call, an e-mail), for `this.event.outside`. The name is
 * what a journal knows it by: keep it when the code moves or changes.
 */
export function outside<I, R>(name: string, work: Work<I, R>, options: OutsideOptions = {}): Outside<I, R> {
  if (!NAME.test(name)) {
    throw misdeclared(
      `${JSON.stringify(name)} cannot be a name. Names begin with a letter and have at most 100 letters, digits, ` +
        '"_", "." and "-"',
    );
  }
  if (known.has(name) && again === 0)
    throw misdeclared(`there is another one named "${name}"; names must be different`);
  for (const [option, value] of Object.entries(options)) {
    const isFine = Number.isSafeInteger(value) && value >= (option === "attempts" ? 1 : 0);
    if (!isFine) throw misdeclared(`"${name}" has the option ${option}: ${value}, which is no such number`);
  }
  const declared = new Outside(name, work, options);
  if (!known.has(name)) known.set(name, declared);
  return declared;
}

function misdeclared(why: string): HeadwaterError {
  return new HeadwaterError("HW-1022", `an outside function is not declared as it should be: ${why}.`);
}
