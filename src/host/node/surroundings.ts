import type { CommitOrder } from "../../core/core.js";
import type { CoreEvent } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import type { Slot } from "../context/index.js";
import type { EventRequest, NodeMessage, Told } from "../event/index.js";
import type { Hosts } from "../head/index.js";
import type { Limits } from "../ports/index.js";
import type { Ledger } from "../store/index.js";
import type { PendingCall } from "./outside-calls.js";

/** What a logical node tells those around it. */
export interface Surroundings {
  /** The roots of all logical nodes, by their names. */
  readonly roots: ReadonlyMap<string, Slot>;
  /** The root of another logical node. */
  peer(cls: ContextClass, name: string | undefined): Slot;
  /** How many messages to another logical node are still on their way. */
  backlog(from: string, to: string): number;
  deliver(from: string, sequence: number, message: NodeMessage): void;
  tell(client: string, message: unknown, from: Told): void;
  /** An outside call that a committed event has asked for. */
  callOutside(call: PendingCall): void;
  /** How many of those have no result yet. */
  readonly outsideCalls: number;
  /** The journal takes no more: nothing can commit. */
  journalFailed(error: HeadwaterError): void;
  /** Something goes on that whoever runs the program should know of. */
  warn(warning: HeadwaterError): void;
  /** An event has failed, and no caller in this process waits for it. */
  failed(request: EventRequest, error: unknown): void;
  /** An event has committed or failed for good. */
  readonly settled: ((event: CoreEvent<EventRequest>) => void) | undefined;
  /** The node has done what there was to do at this moment. */
  rested(): void;
}

export interface NodeOptions {
  readonly commitOrder: CommitOrder;
  readonly limits: Limits;
  readonly marks?: Marks | undefined;
  readonly plant?: Plant | undefined;
  readonly ledger?: Ledger | null;
  /** Where events run, if not here. */
  readonly hosts?: Hosts | null;
}
