import type { EventFact } from "./facts.js";

/** Ties the events of a program to the traces of the requests that they come from. Its methods are called amid the runtime's work. */
export interface TraceLink {
  /** The trace context of the caller that makes a request now, as W3C writes it (`00-…-…-01`); null if it has none. */
  current(): string | null;
  /** An event is settled. What it has asked for outside is carried out behind this. */
  settled(event: EventFact): void;
  /** Runs what an event has asked for outside within the trace of that event. */
  within<T>(node: string, ticket: number, work: () => T): T;
}
