import type { Ticket } from "../../core/event.js";
import { pathOf } from "../../model/path.js";
import {
  type Done,
  type EventRequest,
  Execution,
  type Frame,
  positionsOf,
  type RunningEvent,
  type Supervisor,
  tookTooLong,
} from "../event/index.js";
import type { AttemptId, EventHeader, Existing, ToHead } from "../wire/index.js";
import { takenAlong } from "./entered-states.js";

const NONE: readonly never[] = [];

/** An event that takes place here, too. */
export class OnHost implements RunningEvent {
  readonly ticket: Ticket;
  readonly attempt: number;
  readonly time: number;
  readonly steadyMs: number;
  readonly execution: Execution;
  /** Does the head know of contexts that it has made, deleted or given up here? */
  #hasTold = false;
  /** Has it seen nothing that could be taken back, and told no other part of itself? */
  isAlone: boolean;
  /** Does it wait for the one before it, or for the head? */
  isWaiting = false;
  /** The event that may start when this one is over. */
  next: OnHost | null = null;
  /** Calls that this host has asked for, by its own numbers. */
  asks: Map<number, Frame> | null = null;
  /** What calls of other hosts have done here, by the head's numbers. */
  guests: Map<number, Done> | null = null;
  rollbacks: Map<number, () => void> | null = null;

  constructor(
    supervisor: Supervisor,
    { ticket, attempt, time, steadyMs, isAlone }: EventHeader,
    readonly payload: EventRequest,
  ) {
    this.ticket = ticket as Ticket;
    this.attempt = attempt;
    this.time = time;
    this.steadyMs = steadyMs;
    this.isAlone = isAlone;
    this.execution = new Execution(supervisor, this);
    payload.execution = this.execution;
  }

  get node(): string {
    return this.payload.slot.node;
  }

  get attemptId(): AttemptId {
    return { node: this.node, ticket: this.ticket, attempt: this.attempt };
  }

  /** The contexts here that it has made, deleted or given up so far. */
  get existing(): Existing {
    const existing = this.execution.existing();
    if (existing.length === 0) return NONE;
    this.#hasTold = true;
    return existing.map(({ slot, exists, isChanged }) => [pathOf(slot), exists, isChanged] as const);
  }

  /** The same for a message that need not say it if the head knows of none. */
  get existingIfAny(): Existing | undefined {
    const isOld = this.#hasTold;
    const { existing } = this;
    return isOld || existing.length > 0 ? existing : undefined;
  }

  /**
   * What the head is asked for a call. Field by field, as all messages that each call needs: copying properties takes longer than
   * all else of them.
   */
  askFor(frame: Frame, ask: number): Extract<ToHead, { kind: "ask" }> {
    const { slot, method, args, outer, answer } = frame;
    const { within, callers, seen } = takenAlong(frame);
    return {
      kind: "ask",
      node: this.node,
      ticket: this.ticket,
      attempt: this.attempt,
      ask,
      path: pathOf(slot),
      method: method.name,
      args,
      positions: outer === null ? [] : positionsOf(outer, answer?.position ?? 0),
      within,
      callers,
      seen,
      existing: this.existingIfAny,
    };
  }

  /** It takes longer than it may. */
  giveUp(ms: number): void {
    const { slot, method } = this.payload;
    this.execution.giveUp(tookTooLong(`${slot}.${method.name}(…)`, ms));
  }
}
