import type { LoadEvent } from "../elastic/load.js";
import type { Decision } from "../elastic/policy.js";
import type { HeadwaterError } from "../errors.js";

/**
 * What can be observed of a running program: one type for each kind of fact. A fact is plain data, apart from the errors in
 * it; `atMs` is when it was noted, by the machine's clock in milliseconds.
 */
export type Fact =
  | EventFact
  | WaitFact
  | TrailFact
  | HostFact
  | MigrationFact
  | DecisionFact
  | JournalFact
  | RefusedFact
  | FailureFact
  | WarningFact
  | HaltedFact
  | LoadFact
  | MemberFact;

export type Kind = Fact["kind"];

/** All kinds of facts. The record keeps the list equal to the union. */
const ALL: Readonly<Record<Kind, true>> = {
  event: true,
  wait: true,
  trail: true,
  host: true,
  migration: true,
  decision: true,
  journal: true,
  refused: true,
  failure: true,
  warning: true,
  halted: true,
  load: true,
  member: true,
};

export const KINDS = Object.keys(ALL) as readonly Kind[];

/** How an event came to be. */
type StartedBy = "start" | "timer" | "message" | "outside" | "request" | "parked";

/** An event is settled: its caller has the answer, and what it asked for is carried out. */
export interface EventFact {
  readonly kind: "event";
  readonly atMs: number;
  readonly node: string;
  readonly ticket: number;
  readonly context: string;
  readonly method: string;
  /** Is the method marked as one that only reads? */
  readonly isReadonly: boolean;
  readonly startedBy: StartedBy;
  /** The ticket of the event that started it, or that set its timer or made its outside call, where that is known. */
  readonly parent: number | null;
  /** The logical node of that event; another one than its own if it was started by a message. */
  readonly parentNode: string | null;
  readonly caller: string | null;
  /** The trace context that the request came with, as W3C writes it. */
  readonly trace: string | null;
  readonly ok: boolean;
  /** The code of the error it failed with, or the name of the application's error. Null if it did not fail. */
  readonly error: string | null;
  readonly attempts: number;
  /** The host of the context it started in; null if the program runs in one thread. */
  readonly host: number | null;
  /** From its ticket to the start of its last attempt: it waited for earlier events. */
  readonly waitedMs: number;
  /** From there until it was finished, as were the events whose state it had seen. */
  readonly ranMs: number;
  /** From there until the journal had it. */
  readonly journaledMs: number;
  /** From its ticket until it was settled. */
  readonly totalMs: number;
}

/** An event, or a call below of one, has to wait for an earlier event. */
export interface WaitFact {
  readonly kind: "wait";
  readonly atMs: number;
  readonly node: string;
  readonly ticket: number;
  /** The context that it wants to enter. */
  readonly context: string;
  /** The ticket of the event that it waits for, and the context in which that event started. */
  readonly for: number;
  readonly forContext: string;
}

/**
 * The way of an event through the program: noted when it is settled, after its `event` fact. Each list has at most `TRAIL_MAX` entries,
 * and texts of the application are cut.
 */
export interface TrailFact {
  readonly kind: "trail";
  readonly atMs: number;
  readonly node: string;
  readonly ticket: number;
  /** The contexts that its last attempt entered, in that order. */
  readonly contexts: readonly TrailContext[];
  /** What it waited for, in all attempts. */
  readonly waits: readonly TrailWait[];
  /** What it asked for, in the order of the program text; nothing if it failed. */
  readonly effects: readonly TrailEffect[];
  /** How many entries of these lists are left out. */
  readonly leftOut: number;
  /** What it failed with; null if it did not fail. */
  readonly thrown: { readonly message: string; readonly stack: string } | null;
}

export interface TrailContext {
  readonly context: string;
  readonly host: number | null;
  /** From the event's ticket until it entered. */
  readonly afterMs: number;
}

export interface TrailWait {
  /** The context that it wanted to enter. */
  readonly context: string;
  /** The ticket of the event that it waited for, and the context in which that event started. */
  readonly for: number;
  readonly forContext: string;
  readonly ms: number;
}

export interface TrailEffect {
  readonly what: "start" | "send" | "tell" | "timer" | "cancel" | "outside";
  /** The context, the client or the outside call that it is about; the timer that is cancelled. */
  readonly to: string;
  /** The method that is started, or gets the result; null if there is none. */
  readonly method: string | null;
  /** When the timer is due, from the moment when the event was settled; null for others. */
  readonly inMs: number | null;
}

/** Of each list of a trail. */
export const TRAIL_MAX = 32;

export interface HostFact {
  readonly kind: "host";
  readonly atMs: number;
  readonly host: number;
  readonly what: "joined" | "lost" | "draining" | "removed";
  /** Why it is lost. */
  readonly why: string | null;
}

/** A step of a migration: copying while events go on, waiting for its turn, locked for the rest, and the end. */
export interface MigrationFact {
  readonly kind: "migration";
  readonly atMs: number;
  readonly node: string;
  readonly context: string;
  readonly from: number;
  readonly to: number;
  readonly step: "copying" | "waiting" | "locked" | "moved" | "failed";
}

/** What a policy has decided about the hosts, and what became of it. */
export interface DecisionFact extends Decision {
  readonly kind: "decision";
  readonly atMs: number;
}

/** A group of events is in the journal. */
export interface JournalFact {
  readonly kind: "journal";
  readonly atMs: number;
  readonly node: string;
  readonly events: number;
  readonly ms: number;
}

/** A request, a connection or a session was refused or ended by Headwater itself. */
export interface RefusedFact {
  readonly kind: "refused";
  readonly atMs: number;
  readonly what: "request" | "connection" | "socket" | "session";
  readonly code: string;
  /** The address from which it came, where it came over the network. */
  readonly from: string | null;
  /** The context and method, or the method and path of HTTP, where they are known. */
  readonly target: string | null;
}

/** Code of the application has failed, and no caller in this process hears of it: which, where, and why. */
export interface FailedEvent {
  /** The address of the context, or "api" for a function of the API that failed by itself. */
  readonly context: string;
  readonly method: string;
  readonly startedBy: StartedBy;
  readonly error: unknown;
  /** How many failed like it since the last report. Only requests are counted so: strangers decide how many there are. */
  readonly unreported: number;
}

export interface FailureFact extends FailedEvent {
  readonly kind: "failure";
  readonly atMs: number;
}

/** Something goes on that the operator should know of: a slow event, a host that is replaced. */
export interface WarningFact {
  readonly kind: "warning";
  readonly atMs: number;
  readonly error: HeadwaterError;
}

/** Nothing can commit any more. */
export interface HaltedFact {
  readonly kind: "halted";
  readonly atMs: number;
  readonly error: HeadwaterError;
}

/** What an event cost, for trials of policies. Hosts measure it, so it comes a second or so after the event. */
export interface LoadFact {
  readonly kind: "load";
  readonly atMs: number;
  readonly load: LoadEvent;
}

/** A process has joined the cluster of this one, has left it, or has said how busy it is, as each does once a second. */
export interface MemberFact {
  readonly kind: "member";
  readonly atMs: number;
  readonly what: "joined" | "left" | "measured";
  readonly member: string;
  readonly state: "head" | "standby" | "gateway" | "leaving" | "handover";
  /**
   * Shares, from 0 to 1, of the machine's processors, of the time of the event loop, of the memory, and of the disk; its memory in bytes; what
   * its connections carry; and how many requests wait there for an answer. Null while it is not known.
   */
  readonly load: Readonly<
    Record<"cpu" | "loop" | "memory" | "memoryBytes" | "networkBytesPerSecond" | "queue" | "disk", number>
  > | null;
}

/** Told to an observer in place of facts that it was too slow for. */
export interface DroppedFact {
  readonly kind: "dropped";
  readonly atMs: number;
  readonly count: number;
}
