import { HeadwaterError } from "../../errors.js";
import type { Sender, TimerId } from "../../model/event.js";
import type { OutsideResult } from "../../model/outside.js";
import type { Step } from "../../model/path.js";

/** What an event asked to happen after its commit, in the order of the program text. */
export type LaterEffect =
  | { kind: "start"; path: readonly Step[]; method: string; args: unknown[] }
  | { kind: "send"; node: string; path: readonly Step[]; method: string; args: unknown[]; sender: string }
  | { kind: "tell"; client: string; message: unknown }
  | {
      kind: "timer";
      id: TimerId;
      /** The context that has set it; `path` is where its event starts. */
      owner: readonly Step[];
      path: readonly Step[];
      method: string;
      args: unknown[];
      ms: number;
    }
  | { kind: "cancel"; timer: TimerId }
  | {
      kind: "outside";
      name: string;
      input: unknown;
      path: readonly Step[];
      method: string | null;
      args: unknown[];
    };

/** What is compared of an error; its stack and its class are not part of the contract. */
export interface LoggedFailure {
  name: string;
  code?: string;
  message: string;
}

export type LoggedResult = { ok: true; value: unknown } | { ok: false; error: LoggedFailure };

export type LoggedOutcome = LoggedResult & { readonly later: readonly LaterEffect[] };

/**
 * Why an event exists. `parent` is a ticket and `index` a position among that event's later effects. The event of
 * a timer that an earlier event has cancelled may be there too; it does nothing and returns undefined.
 */
export type LoggedOrigin =
  | { kind: "request"; request: number }
  | { kind: "start"; parent: number; index: number }
  | { kind: "timer"; parent: number; index: number }
  | { kind: "outside"; parent: number; index: number }
  | { kind: "message"; from: string; parent: number; index: number };

export interface LoggedEvent {
  node: string;
  ticket: number;
  path: readonly Step[];
  method: string;
  args: unknown[];
  time: number;
  /** When it got its ticket, by the clock that only goes forward. */
  steadyMs: number;
  caller: string | undefined;
  sender: Sender | undefined;
  origin: LoggedOrigin;
  result: LoggedResult;
  later: readonly LaterEffect[];
  /** When the head got it. Steps are points of simulated time that no two happenings share. */
  submittedStep: number;
  /** When an observer outside the logical node could first know that it had committed, or failed. */
  acknowledgedStep: number;
  /** The same by the clock that only goes forward. */
  acknowledgedMs: number;
}

/** A message that reached a connected client, in the order of arrival. */
export interface HeardMessage {
  client: string;
  node: string;
  ticket: number;
  index: number;
  message: unknown;
}

/** What a run of a program showed to its observers. */
export interface RunLog {
  commitOrder: "observer" | "total";
  crashes: number;
  /** Every event that got a ticket and was finished, in any order. */
  events: LoggedEvent[];
  told: HeardMessage[];
  /** The keys of outside calls that were made, again and again maybe, and what the last of each gave. */
  outside: Map<string, OutsideResult<unknown>>;
  /** The answers that clients got to requests with an id, in order: more than one, if they asked again. */
  answers: Map<number, LoggedResult[]>;
  /** Requests without an id that a crash came in the way of: they may have had their effect or not. */
  lost: Set<number>;
  /** By logical node and ticket: how many hosts have ended while they ran that event and nothing else. */
  lostAlone: Map<string, number>;
  /** The events that are parked in the end, in the same way. */
  parked: Set<string>;
  /** Timers that were armed when the run ended, per logical node. */
  armed: Map<string, ReadonlySet<TimerId>>;
  /**
   * Per logical node, the state (as `viewOf` shows it) of each context whose fields differ from their initial
   * values, under its address's text.
   */
  states: Map<string, Map<string, object>>;
}

export function failureOf(thrown: unknown): LoggedFailure {
  if (thrown instanceof HeadwaterError)
    return { name: thrown.name, code: thrown.code, message: thrown.message };
  if (thrown instanceof Error) return { name: thrown.name, message: thrown.message };
  return { name: typeof thrown, message: String(thrown) };
}
