import type { CoreContext } from "../../core/core-context.js";
import type { CoreEvent, Mode, Request, Ticket } from "../../core/event.js";
import type { Ready } from "../../core/ready.js";
import type { Write } from "../../journal/journal.js";
import { declaredReads } from "../../model/context.js";
import type { TimerId } from "../../model/event.js";
import { givenOutside } from "../../model/inside.js";
import { pathOf, type Step } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import type { State } from "../../state/fields.js";
import { areSimple, copyAll } from "../../state/values.js";
import type { Slot } from "../context/index.js";
import type { Migration } from "../head/index.js";
import type { Effect } from "./effects.js";
import type { HostRecord } from "./host-record.js";

/** Where an event came from. */
export type Origin =
  | { readonly kind: "request" }
  | { readonly kind: "start"; readonly parent: Ticket; readonly index: number }
  /** `owner` is set if another context has set it than the context that the event starts in. */
  | {
      readonly kind: "timer";
      readonly id: TimerId;
      readonly due: number;
      readonly owner?: readonly Step[];
    }
  | { readonly kind: "outside"; readonly parent: Ticket; readonly index: number }
  /** Parked under that ticket, and run again because its owner asked for it. */
  | { readonly kind: "parked"; readonly ticket: Ticket }
  | {
      readonly kind: "message";
      readonly from: string;
      readonly parent: Ticket;
      readonly index: number;
      /** The address of the context that has sent it. Journals of earlier versions do not have it. */
      readonly sender?: string;
      /** If it came from another log: the history to which `parent` belongs. */
      readonly history?: string;
    };

/** What starts the event of a timer. */
export function timerOrigin({ id, due, owner, slot }: TimerEffect): Extract<Origin, { kind: "timer" }> {
  return owner === slot ? { kind: "timer", id, due } : { kind: "timer", id, due, owner: pathOf(owner) };
}

type TimerEffect = Extract<Effect, { kind: "timer" }>;

/** The number that a gateway has given to a request. */
export interface RelayedNumber {
  readonly gateway: string;
  readonly number: number;
}

/** Who waits for an event's result. */
export interface WaitingCaller {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Does the one who waits run in this process, and hear of an error as it was thrown? Then it needs no other report. */
  readonly isLocal?: boolean;
  /** The trace that the request belongs to, where it came with one. */
  trace?: string | undefined;
  /** Hears that the event has listed the contexts below this one. */
  lists?(slot: Slot): void;
}

/** What an event, or several in a row, made of a context. */
export interface StateChange {
  readonly before: State;
  after: State;
}

/** An attempt at running an event, on this host or on others. */
export interface Attempt {
  /** Ended or taken back: whatever its methods return counts for nothing. */
  readonly isDead: boolean;
  /** How the event's own method ended, once the attempt is dead. */
  readonly ok: boolean;
  readonly value: unknown;
  /** What the event asked for, if it ended well. */
  readonly effects: readonly Effect[];
  /** Puts the contexts back to their state before the event; later events have been undone already. */
  rollBack(): void;
  /** The journal has it. */
  leave(): void;
  /** The contexts that it has entered. */
  touched(): Iterable<Slot>;
  /** Calls back with the contexts that it may have changed, and whether it made or deleted them. */
  changes(note: (slot: Slot, isMade: boolean) => void): void;
  /** Adds what the event made of contexts here to what events before it made of them, and what is to be written of others. */
  collectChanges(changes: Map<Slot, StateChange>, writes: Write[]): void;
}

/** What there is to run, and what is known of it so far. It goes through the core as an event's payload. */
export class EventRequest implements Request<EventRequest> {
  /** The present attempt at running it. */
  execution: Attempt | null = null;
  /** The states of declared ancestors as of the event's ticket; null for one that cannot be made. */
  seen: Map<Slot, State | null> | null = null;
  /** Set for an event that was on a host when that ended. */
  record: HostRecord | null = null;
  /** Set for an event that migrates its context to another host, and does nothing else. */
  migration: Migration | null = null;

  constructor(
    readonly slot: Slot,
    readonly method: Method,
    readonly args: unknown[],
    readonly caller: string | undefined,
    readonly origin: Origin,
    readonly waiting: WaitingCaller | null,
    /** The id under which it was asked for, if it carries one. */
    readonly request?: string | RelayedNumber | undefined,
  ) {}

  get context(): CoreContext<EventRequest> {
    return this.slot.coreContext;
  }

  get mode(): Mode {
    if (this.slot.shape.anonymous) return "none";
    // What a timer starts changes its context at least in that the timer is gone.
    return this.method.readonly && this.origin.kind !== "timer" ? "read" : "write";
  }

  /** The declared ancestors. */
  get views(): readonly CoreContext<EventRequest>[] {
    if (this.method.reads.length === 0) return NO_VIEWS;
    const above = declaredReads(this.slot, this.method) as readonly Slot[];
    return above.filter((slot) => !this.seen?.has(slot)).map(({ coreContext }) => coreContext);
  }

  /** A migration holds only what it migrates. */
  get spares(): ((context: CoreContext<EventRequest>) => boolean) | null {
    return this.migration?.spares ?? null;
  }

  get payload(): this {
    return this;
  }

  /** Tells the caller what came of it, once it has ended for good. */
  answer(): void {
    if (this.execution?.ok) this.waiting?.resolve(this.execution.value);
    else this.waiting?.reject(givenOutside(this.execution?.value));
  }

  /** The arguments for one attempt: a method may change what it is given, and an event may be tried again. */
  argsForAttempt(): unknown[] {
    return areSimple(this.args) ? this.args : copyAll([...this.args], () => "the arguments");
  }
}

/** An event of a logical node, as its core knows it. */
export type NodeEvent = CoreEvent<EventRequest>;

/** Answers all requests whose events have ended for good. */
export function answerSettled(ready: Ready<EventRequest>): void {
  for (let event = ready.nextSettled(); event !== null; event = ready.nextSettled()) event.payload.answer();
}

const NO_VIEWS: readonly CoreContext<EventRequest>[] = [];
