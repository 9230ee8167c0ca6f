import type { Sender } from "../../model/event.js";
import type { Method } from "../../model/shape.js";
import type { LoggedEvent } from "./log.js";
import type { SequentialContext, SequentialState } from "./sequential-context.js";

export type SequentialEvent = Pick<
  LoggedEvent,
  "node" | "ticket" | "path" | "method" | "args" | "time" | "caller"
> & { readonly sender?: Sender | undefined };

/** A context in one event: the state that the event found there, and whether it has given it up since. */
interface Entered {
  readonly place: SequentialContext;
  readonly found: SequentialState;
  givenUp: boolean;
}

/** What all methods of one event share. */
export class Event {
  /** Few, in the order of entering. */
  readonly entered: Entered[] = [];
  /** Calls that were not awaited: the event has failed, but their code, or what follows them, still runs. */
  readonly leftOver: (Promise<unknown> | null)[] = [];

  constructor(
    readonly facts: SequentialEvent,
    readonly target: SequentialContext,
    readonly method: Method,
    readonly roots: ReadonlyMap<string, SequentialContext>,
  ) {}

  in(place: SequentialContext): Entered | undefined {
    return this.entered.find((entered) => entered.place === place);
  }
}
