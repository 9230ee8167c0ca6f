import type { Page, PageOptions } from "./below.js";
import type { Context, ContextClass } from "./context.js";
import type { Key } from "./key.js";
import type { Outside, OutsideResult } from "./outside.js";
import type { Answered, Children, Elsewhere, Later, Target, Timed, View } from "./refs.js";

/** Names one armed timer; it can be kept in a field. */
export type TimerId = string;

/** Where a message came from: a context of another logical node. Plain data, so it can be kept in a field. */
export interface Sender {
  /** The name of the logical node. */
  readonly node: string;
  /** The context that sent it, as `this.event.address` gives it there. */
  readonly address: string;
}

/** What a method may ask of the event that it is part of, as `this.event`. */
export interface CurrentEvent {
  /**
   * When the event got its ticket, in milliseconds since 1970 by the machine's clock, which can be set: a later event may
   * have an earlier time. The same each time the event is tried.
   */
  readonly time: number;
  /** The connected client that asked for this event, if one did. */
  readonly caller: string | undefined;
  /** The context that sent the message which started this event, if a message did. */
  readonly sender: Sender | undefined;
  /** The event's position in the order of its logical node. */
  readonly ticket: number;
  /** The name of the logical node that this context is part of. */
  readonly node: string;
  /** The address of this context, as a program writes it: `Game.buildings(1).hallway`. */
  readonly address: string;

  /**
   * Names the context right above this one, to aim later events at it; undefined if that is not of this class. In a
   * class that is its own child, `this.above(Class)` is this context itself.
   */
  parent<T extends Context<Key>>(cls: abstract new () => T): Elsewhere<T> | undefined;

  /** Starts a later event on a context of this logical node, once this one has committed. */
  start<T>(target: Target<T>): Later<T>;

  /** Sends a message that starts an event on another logical node, once this event has committed. */
  send<T>(target: Target<T>): Later<T>;
  /** Sends a message to a connected client, once this event has committed. */
  send(client: string, message: unknown): void;

  /**
   * Starts a later event on this context, no sooner than `ms` after this event got its ticket, by a clock that cannot be
   * set. Timers go off in the order in which they are due, and if at the same time, in the order of asking.
   */
  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId;
  /**
   * The same on a context above: `this.event.after(ms, this.above(Shop)).expire(this.key)`. The timer belongs to this
   * context, which can cancel it; its event starts up there, and so may change this context and those beside it.
   */
  after<T>(ms: number, target: Target<T>): Timed<T>;
  /** Cancels a timer that this context has set, if it has not gone off. */
  cancel(timer: TimerId): void;

  /**
   * Has a function with an effect outside the program called, once this event has committed: at least once, also if
   * the program crashes. What comes of it starts a later event on this context, with that as its first argument.
   */
  outside<I, R, A extends unknown[]>(
    work: Outside<I, R>,
    input: I,
    then?: (result: OutsideResult<R>, ...args: A) => unknown,
    ...args: A
  ): void;
  /** The same with an event on a context above: `this.event.outside(pay, bill, this.above(Shop)).paid(this.key)`. */
  outside<I, R, T>(work: Outside<I, R>, input: I, target: Target<T>): Answered<T, R>;

  /** The state of a context above, as of this event's ticket. Declare it with `@reads(Class)`. */
  read<T extends Context<Key>>(cls: ContextClass<T>): View<T>;

  /**
   * The keys of children that exist, a page at a time, as of this event's ticket. A context exists when an event has changed
   * it, or one below it, since it was made or deleted; looking at one does not make it exist. The order of keys is always the
   * same, but not that of numbers.
   */
  list<C extends Context<Key>>(
    children: Children<C>,
    options?: PageOptions<C["key"]>,
  ): Promise<Page<C["key"]>>;

  /**
   * Deletes a context below and everything below that: their fields and timers are gone, as if they had never been made, and
   * the next use makes them anew. It is undone like any other change. Messages, started events and outside calls that they
   * have asked for go on.
   */
  delete(target: Target<unknown>): Promise<void>;

  /** Names the root of another logical node of the program, by its class or its name. */
  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T>;
}
