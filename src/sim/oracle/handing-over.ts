import { Watched } from "../../model/watched.js";
import type { SequentialContext, SequentialState } from "./sequential-context.js";

/** How a method ended: with what it returned, or with what it threw. */
export interface Ended {
  readonly ok: boolean;
  readonly value: unknown;
}

/** What a context's fields held at some moment; throws if that could not be stored. */
export type StateMoment = () => SequentialState;

/** All code that can run has run; the rest waits for something else than a promise that has settled. */
export function comeToRest(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** An async method of the context itself that a method has called. */
export class Own {
  readonly promise = new Watched();

  constructor(
    readonly place: SequentialContext,
    readonly method: { readonly name: string },
    /** Is it a call below that was made after its method had returned or thrown? */
    readonly isLate = false,
  ) {}
}

export function momentOf(place: SequentialContext): StateMoment {
  try {
    const state = place.now();
    return () => state;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** A caller gets the results of its calls in the order of the calls, and each after what followed from the one before. */
export async function handOver(
  { promise }: { readonly promise: Watched },
  ending: Ended | Promise<Ended>,
  before: Promise<void> | null,
): Promise<void> {
  const { ok, value } = await ending;
  await before;
  await comeToRest();
  promise.end(ok, value);
}
