import type { Ticket } from "../../core/event.js";
import type { ReadCallbacks } from "../../model/door.js";
import type { Slot } from "../context/index.js";
import type { NodeEvent, WaitingCaller } from "../event/index.js";

/** A read that has entered more contexts is taken to depend on everything below the context that it started in. */
const CONTEXTS_MAX = 64;

/** What a read depends on: the states of contexts, which contexts there are below one, or everything at and below one. */
type Kind = "state" | "made below" | "any below";

/** When something last changed: by context, the ticket of the event that changed it. */
class LastChanges {
  readonly #tickets = new WeakMap<Slot, Ticket>();

  note(slot: Slot, ticket: Ticket): void {
    if (ticket > (this.#tickets.get(slot) ?? 0)) this.#tickets.set(slot, ticket);
  }

  isLater(slot: Slot, than: Ticket): boolean {
    return (this.#tickets.get(slot) ?? 0) > than;
  }
}

/**
 * Read-only requests whose callers want to know when the result may have changed. A read is an event like any other, so it depends on
 * the contexts that it has entered, and on which contexts exist below each context that it has listed. An event with a later ticket
 * that changes one of them makes the read stale. Two such events may end in any order; their tickets say which one came first.
 *
 * Nothing is noted of events while there is no such read.
 */
export class WatchedReads {
  readonly #dependents: Readonly<Record<Kind, Map<Slot, Set<WatchedRead>>>> = {
    state: new Map(),
    "made below": new Map(),
    "any below": new Map(),
  };
  #changes: Readonly<Record<Kind, LastChanges>> = noChanges();
  #open = 0;

  open(callbacks: ReadCallbacks): WatchedRead {
    this.#open += 1;
    return new WatchedRead(this, callbacks);
  }

  /** An event has ended for good. If it is a read, this comes before its answer. */
  settled(event: NodeEvent): void {
    if (this.#open === 0) return;
    const { waiting, execution, migration } = event.payload;
    if (waiting instanceof WatchedRead) return this.#depends(waiting, event);
    if (event.mode === "read" || migration !== null || execution?.ok !== true) return;
    execution.changes((slot, isMade) => this.#changed(slot, event.ticket, isMade));
  }

  #depends(read: WatchedRead, { payload, ticket }: NodeEvent): void {
    if (read.isOver) return;
    const entered = [...(payload.execution?.touched() ?? []), ...(payload.seen?.keys() ?? [])];
    if (entered.length <= CONTEXTS_MAX) for (const slot of entered) this.#add(read, "state", slot, ticket);
    else
      for (const slot of [payload.slot, ...(payload.seen?.keys() ?? [])])
        this.#add(read, "any below", slot, ticket);
    for (const slot of read.listed) this.#add(read, "made below", slot, ticket);
  }

  #add(read: WatchedRead, kind: Kind, slot: Slot, ticket: Ticket): void {
    const dependents = this.#dependents[kind].get(slot) ?? new Set();
    this.#dependents[kind].set(slot, dependents);
    dependents.add(read);
    read.dependsOn.push([kind, slot]);
    if (this.#changes[kind].isLater(slot, ticket)) read.isStale = true; // by an event that has ended before the read
  }

  #changed(slot: Slot, ticket: Ticket, isMade: boolean): void {
    this.#note("state", slot, ticket);
    for (let at: Slot | null = slot; at !== null; at = at.parent) {
      this.#note("any below", at, ticket);
      if (isMade) this.#note("made below", at, ticket);
    }
  }

  #note(kind: Kind, slot: Slot, ticket: Ticket): void {
    this.#changes[kind].note(slot, ticket);
    for (const read of [...(this.#dependents[kind].get(slot) ?? [])]) read.goesStale();
  }

  /** The read is of no interest any more. */
  forget(read: WatchedRead): void {
    this.#open -= 1;
    for (const [kind, slot] of read.dependsOn) {
      const dependents = this.#dependents[kind].get(slot);
      dependents?.delete(read);
      if (dependents?.size === 0) this.#dependents[kind].delete(slot);
    }
    if (this.#open === 0) this.#changes = noChanges();
  }
}

function noChanges(): Readonly<Record<Kind, LastChanges>> {
  return { state: new LastChanges(), "made below": new LastChanges(), "any below": new LastChanges() };
}

/** One read, from its request until it is stale or is stopped. */
export class WatchedRead implements WaitingCaller {
  readonly dependsOn: [Kind, Slot][] = [];
  /** The contexts whose contexts below it has listed. */
  readonly listed = new Set<Slot>();
  /** Did something change before its answer was there? */
  isStale = false;
  isOver = false;
  #isAnswered = false;

  constructor(
    readonly reads: WatchedReads,
    readonly callbacks: ReadCallbacks,
  ) {}

  lists(slot: Slot): void {
    this.listed.add(slot);
  }

  resolve(value: unknown): void {
    this.#answer(() => this.callbacks.resolve(value));
  }

  reject(error: unknown): void {
    this.#answer(() => this.callbacks.reject(error));
  }

  #answer(answer: () => void): void {
    if (this.isOver) return;
    this.#isAnswered = true;
    answer();
    if (this.isStale) this.goesStale();
  }

  /** Something that the read depends on has changed. */
  goesStale(): void {
    this.isStale = true;
    if (!this.#isAnswered || this.isOver) return;
    this.stop();
    this.callbacks.changed();
  }

  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reads.forget(this);
  }
}
