import type { EntryRequest } from "../../core/event.js";
import type { HeadwaterError } from "../../errors.js";
import type { Slot } from "../context/index.js";
import type { EventRequest, NodeEvent } from "../event/index.js";
import type { Scheduler } from "./scheduler.js";

/** Runs the events of one logical node when its core lets them run: in this thread, or on hosts. */
export interface Runner {
  /** Takes the event's view of a context above it. */
  see(event: NodeEvent, slot: Slot): void;
  /** The event may start, or a call of it may enter its context. */
  enter(entry: EntryRequest<EventRequest>): void;
  /** The same at once, when what held the event back is over. */
  go(event: NodeEvent, attempt: number, token: unknown): void;
  /** These events, `along` with the first, are appended to the journal next. */
  appending(first: NodeEvent): void;
  /** Has it work that the core does not know of? */
  readonly isDue: boolean;
  /** Does that work. Whatever the core has called appended is appended by now. */
  goOn(): void;
  /** Nothing goes on any more. */
  halt(reason: HeadwaterError): void;
}

/** Makes the runners of a program. */
export interface Runners {
  runnerFor(scheduler: Scheduler): Runner;
}
