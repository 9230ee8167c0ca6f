import type { Context, ContextClass } from "./context.js";
import type { Key } from "./key.js";
import type { Outside, OutsideResult } from "./outside.js";
import type { Elsewhere, Later, Target, View } from "./refs.js";

/** Names one armed timer; it can be kept in a field. */
export type TimerId = string;

/** What a method may ask of the event that it is part of, as `this.event`. */
export interface CurrentEvent {
  /**
   * When the event got its ticket, in milliseconds since 1970 by the machine's clock, which can be set: a later event may
   * have an earlier time. The same each time the event is tried.
   */
  readonly time: number;
  /** The connected client that asked for this event, if one did. */
  readonly caller: string | undefined;

  /** Starts a later event on a context of this logical node, once this one has committed. */
  start<T>(target: Target<T>): Later<T>;

  /** Sends a message that starts an event on another logical node, once this event has committed. */
  send<T>(target: Target<T>): Later<T>;
  /** Sends a message to a connected client, once this event has committed. */
  send(client: string, message: unknown): void;

  /**
   * Starts a later event on this context, no sooner than `ms` after this event got its ticket, by a clock that nobody can
   * set. Timers go off in the order in which they are due, and if at the same time, in the order of asking.
   */
  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId;
  /** Cancels a timer that this context has set, if it has not gone off. */
  cancel(timer: TimerId): void;

  /**
   * Has a function with an effect outside the program called, once this event has committed: at least once, also if
   * the program crashes. What comes of it starts a later event on this context, with that as its argument.
   */
  outside<I, R>(work: Outside<I, R>, input: I, then?: (result: OutsideResult<R>) => unknown): void;

  /** The state of a context above, as of this event's ticket. Declare it with `@reads(Class)`. */
  read<T extends Context<Key>>(cls: ContextClass<T>): View<T>;

  /** Names the root of another logical node of the program, by its class or its name. */
  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T>;
}
