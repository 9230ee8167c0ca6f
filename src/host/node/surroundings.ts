import type { MessagePosition } from "../../model/between-logs.js";
import type { EventRequest, NodeEvent, NodeMessage, Told } from "../event/index.js";
import type { Around, Runners, SchedulerOptions } from "../runner/index.js";
import type { TakenWith } from "./incoming-messages.js";
import type { PendingCall } from "./outside-calls.js";
import type { WatchedReads } from "./watched-reads.js";

/** What a logical node tells those around it. */
export interface Surroundings extends Around {
  deliver(from: string, sequence: number, message: NodeMessage): void;
  /** The same for a message that the journal has, to a logical node of another log. */
  deliverElsewhere(from: string, to: string, position: MessagePosition): void;
  /** What a commit of these says of messages from other logs; `open` keep their tickets. */
  takenWith(events: readonly NodeEvent[], open: readonly NodeEvent[]): TakenWith;
  tell(client: string, message: unknown, from: Told): void;
  /** An outside call that a committed event has asked for. */
  callOutside(call: PendingCall): void;
  /** An event has failed, and no caller in this process waits for it. */
  failed(request: EventRequest, error: unknown): void;
  /** An event has committed or failed for good. */
  readonly settled: ((event: NodeEvent) => void) | undefined;
  /** Reads whose callers want to know when their results change. */
  readonly reads: WatchedReads;
  /** The node has done what there was to do at this moment. */
  rested(): void;
}

export interface NodeOptions extends SchedulerOptions {
  /** How many contexts that do not exist stay in memory, if there is no journal and no other host. */
  readonly unmadeInMemory?: number | undefined;
  /** What runs the events, if they do not run in this thread. */
  readonly runners?: Runners | null;
}
