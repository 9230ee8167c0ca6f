import type { Ticket } from "../../core/event.js";
import { pathOf } from "../../model/path.js";
import {
  type Done,
  type EventRequest,
  Execution,
  type Frame,
  type RunningEvent,
  type Supervisor,
  tookTooLong,
} from "../event/index.js";
import type { AttemptId, Header, Made } from "../wire/index.js";

const NONE: readonly never[] = [];

/** An event that takes place here, too. */
export class OnHost implements RunningEvent {
  readonly ticket: Ticket;
  readonly attempt: number;
  readonly time: number;
  readonly steadyMs: number;
  readonly execution: Execution;
  /** Has it seen nothing that could be taken back, and told nobody of itself? */
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
    { ticket, attempt, time, steadyMs, isAlone }: Header,
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

  /** The contexts here that it has made and deleted so far. */
  get made(): Made {
    const made = this.execution.made();
    return made.size === 0 ? NONE : Array.from(made, ([slot, isMade]) => [pathOf(slot), isMade] as const);
  }

  /** It takes longer than it may. */
  giveUp(ms: number): void {
    const { slot, method } = this.payload;
    this.execution.giveUp(tookTooLong(`${slot}.${method.name}(…)`, ms));
  }
}
