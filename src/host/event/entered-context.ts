import { HeadwaterError } from "../../errors.js";
import { Context } from "../../model/context.js";
import type { TimerId } from "../../model/event.js";
import type { Key } from "../../model/key.js";
import { askedAt, timerAt } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import {
  armedIn,
  initialState,
  instantiate,
  isSameState,
  isUnmade,
  type State,
  stateOf,
} from "../../state/fields.js";
import type { LiveMap } from "../../state/tracked-map.js";
import type { Slot } from "../context/index.js";
import type { Frame } from "./frame.js";

/** One context in one try of an event: its state before, its state now, and the instance the event works in. */
export class EnteredContext {
  readonly before: State;
  /** As of the last method that ended in this context. */
  state: State;
  /** Counts the changes of `state`; undoing a change takes it back. */
  version = 0;
  #instance: Context<Key> | null = null;
  #armed: LiveMap | null = null;
  /** The state before the method that runs, if the context did not exist then and calls have seen it changed since. */
  #unmade: State | null = null;
  /** Was the instance another event's before? Has a method waited in it? */
  #instanceIs: "fresh" | "reused" | "waited in" = "fresh";
  released = false;
  /** Can later events see `state`? */
  published = false;
  /** What the same attempt of the event has entered next. */
  next: EnteredContext | null = null;

  constructor(readonly slot: Slot) {
    this.before = slot.state;
    this.state = this.before;
  }

  /** The instance for a method of the event to run in. It holds `state`. */
  activate(frame: Frame): Context<Key> {
    const { takesTime } = frame.method;
    if (takesTime) this.#instance = null; // others may have used it: code that they left behind could get in between
    if (this.#instance === null) {
      const parked = takesTime || this.state !== this.slot.state ? null : this.slot.takeParked();
      this.#instanceIs = parked === null ? "fresh" : "reused";
      this.#instance = parked ?? instantiate(this.slot, this.state);
    }
    Context.activate(this.#instance, frame);
    return this.#instance;
  }

  /** The method has returned a promise. Says whether it may go on in this instance. */
  mayTakeTime(method: Method): boolean {
    method.takesTime = true;
    const wasReused = this.#instanceIs === "reused" && !this.slot.shape.anonymous; // which has no state to get in between
    this.#instanceIs = "waited in";
    return !wasReused;
  }

  arm(timer: TimerId, due: number): void {
    this.#timers.set(askedAt(this.slot.node, timer), due);
  }

  /** When it would have gone off; null if it is not armed. */
  cancel(timer: TimerId): number | null {
    const name = askedAt(this.slot.node, timer);
    const due = this.#timers.get(name) as number | undefined;
    if (due === undefined) return null;
    this.#timers.delete(name);
    return due;
  }

  /** The timer that started the event has gone off. Says whether it was still armed. */
  disarm(timer: TimerId): boolean {
    const wasArmed = this.cancel(timer) !== null;
    if (wasArmed) this.keepRunning(this.current());
    return wasArmed;
  }

  get #timers(): LiveMap {
    this.#armed ??= armedIn(this.slot, this.state);
    return this.#armed;
  }

  /** The state that the instance holds at this moment. */
  current(): State {
    if (this.#instance === null) return this.state;
    const state = stateOf(this.#instance, this.slot, this.state, this.#armed);
    return this.#unmade !== null && isSameState(this.slot, this.#unmade, state) ? this.#unmade : state;
  }

  /** The state for a call to see, or why there is none that could be stored. */
  stateAtCall(): State | HeadwaterError {
    try {
      const state = this.current();
      if (this.released || state === this.state) return state;
      if (isUnmade(this.state)) this.#unmade = this.state;
      this.keepRunning(state); // the next call will have less to compare and nothing to copy
      return state;
    } catch (error) {
      if (error instanceof HeadwaterError) return error;
      throw error;
    }
  }

  /** A method has ended: its changes become part of the entry's state. */
  keep(state: State): void {
    this.keepRunning(state);
    this.#unmade = null;
    if (this.#instance === null) return;
    Context.activate(this.#instance, null);
    if (this.#instanceIs !== "waited in") return;
    this.slot.left(this.#instance, state);
    this.#instance = null; // code that the method has left behind may still have it
  }

  /** The same while the method goes on. */
  keepRunning(state: State): void {
    if (state !== this.state) this.version += 1;
    this.state = state;
    this.#armed = null;
  }

  /** The timers that are armed in it at this moment, and when they are due, in the order of their names. */
  armedTimers(): [id: TimerId, due: number][] {
    const armed = [...this.#timers.entries()] as [asked: string, due: number][];
    const timers = armed.map(([asked, due]): [TimerId, number] => [timerAt(this.slot, asked), due]);
    return timers.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** The context is deleted. Its code holds the instance no longer. */
  reset(): void {
    this.#instance = null;
    this.keepRunning(initialState(this.slot));
  }

  /** A method has failed: back to the state before it. Its code may still hold the instance, so that is dropped. */
  restore(state: State, version: number): void {
    this.#instance = null;
    this.#armed = null;
    this.#unmade = null;
    if (version >= this.version) return; // it is back in this state, or in an older one
    this.version = version;
    // Events that have seen a change were rolled back before; if there was none, later events may have gone on from there.
    if (this.published && this.state !== state) this.slot.put(state, null);
    this.state = state;
  }

  /** Lets later events see the state. The event keeps its instance, to look at. */
  release(): void {
    this.released = true;
    this.published = true;
    this.slot.put(this.state, null);
  }

  /** The event has finished: its state stays, and the instance is free for the next one. */
  publish(): void {
    if (this.published && this.slot.state !== this.state) return; // later events have changed it since
    this.published = true;
    this.slot.put(this.state, this.#instance);
    this.#instance = null;
  }

  /** The event is taken back. */
  rollBack(): void {
    this.#instance = null;
    if (this.published && this.state !== this.before) this.slot.put(this.before, null);
  }
}
