import type { Outcome, Ticket } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import type { Slot } from "../context/index.js";
import type { Limits } from "../ports/index.js";
import type { Effect } from "./effects.js";
import type { Execution } from "./execution.js";
import type { Frame } from "./frame.js";
import type { EventRequest } from "./request.js";
import type { Rest } from "./rest.js";

/** What an attempt at an event knows of the event. */
export interface RunningEvent {
  readonly ticket: Ticket;
  readonly time: number;
  /** When it got its ticket, by the head's clock that only goes forward. */
  readonly steadyMs: number;
  readonly attempt: number;
  readonly payload: EventRequest;
}

/** What an attempt at an event asks: the logical node itself, or, on another host, its representative there. */
export interface Supervisor {
  readonly limits: Limits;
  readonly marks: Marks | undefined;
  readonly plant?: Plant | undefined;
  /** A call wants to enter a context that the event is not in yet, as far as it is known here. */
  call(execution: Execution, frame: Frame): void;
  /** Runs a call in a context that its event is in already. */
  runSoon(execution: Execution, frame: Frame): void;
  /** Where methods wait until their code has come to rest. */
  readonly rest: Rest;
  /** Are the states of all contexts kept when they make calls, or only of contexts that methods below have read? */
  readonly keepsStates: boolean;
  /** The event goes back to the beginning, under the same ticket; events that have seen state of it do, too. */
  startAgain(event: RunningEvent): void;
  release(event: RunningEvent, slot: Slot, changed: boolean): void;
  /** The event takes back what it had changed in a context that it had given up, when the events that saw it are rolled back. */
  retract(event: RunningEvent, done: () => void): void;
  /** Takes back what calls of the event did on other hosts, then goes on. */
  rollBackElsewhere(event: RunningEvent, calls: readonly number[], done: () => void): void;
  finish(event: RunningEvent, outcome: Outcome<EventRequest>): void;
  /** Why these effects cannot be taken on at the moment, if so. */
  refuse(effects: readonly Effect[]): HeadwaterError | null;
  peer(cls: ContextClass, name: string | undefined): Slot;
  broken(error: unknown): void;
}
