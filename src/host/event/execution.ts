import type { Outcome } from "../../core/event.js";
import { HeadwaterError } from "../../errors.js";
import { resolvePath } from "../../model/path.js";
import * as rules from "../../model/rules.js";
import { isUnmade, type State } from "../../state/fields.js";
import { rootOf, type Slot } from "../context/index.js";
import type { Effect } from "./effects.js";
import { EnteredContext } from "./entered-context.js";
import { allFrom, EnteredContexts } from "./entered-contexts.js";
import { Frame } from "./frame.js";
import type { UndoRecord } from "./guest.js";
import { FAILED, NOTHING_MORE, outcomeOf } from "./outgoing.js";
import type { EventRequest, StateChange } from "./request.js";
import type { RunningEvent, Supervisor } from "./supervisor.js";

/** One attempt at running an event: the contexts it has entered, and how it ended. */
export class Execution {
  /** The context that the event started in, and, in the order of entering, all those it has entered. */
  #first: EnteredContext | null = null;
  #entries: EnteredContexts | null = null;
  #effects = 0;
  #hasLeft = false;
  #stage: "under way" | "succeeded" | "failed" | "stopped" | "rolled back" = "under way";
  /** What the event has of contexts that are on other hosts, as far as it matters here. */
  #elsewhere: Map<Slot, { isHeld: boolean; state: State | undefined }> | null = null;
  /** What the event's own method returned or threw, once the attempt is dead. */
  value: unknown = undefined;
  /** What the event asked for, if it ended well. */
  effects: readonly Effect[] = NO_EFFECTS;

  constructor(
    readonly node: Supervisor,
    readonly event: RunningEvent,
  ) {}

  get request(): EventRequest {
    return this.event.payload;
  }

  /** Ended or taken back: whatever its methods return counts for nothing. */
  get isDead(): boolean {
    return this.#stage !== "under way";
  }

  /** Did the event's own method end well? */
  get ok(): boolean {
    return this.#stage === "succeeded";
  }

  /** Undone: what its code still asks for is not even refused, because a later attempt may not ask for it. */
  get wasTakenBack(): boolean {
    return this.#stage === "rolled back" || this.#stage === "stopped";
  }

  start(): void {
    const { slot, method } = this.request;
    new Frame(this, null, slot, method, this.request.argsForAttempt(), null, null).run();
  }

  /** The event's own method has ended. */
  end(frame: Frame, ok: boolean, value: unknown): void {
    if (ok) {
      this.effects = frame.effects === null ? NO_EFFECTS : frame.effects.flatten();
      const refusal = this.node.refuse(this.effects);
      if (refusal !== null) return this.#finish(false, refusal);
      this.publish();
    }
    this.#finish(ok, value);
  }

  /** Goes back to the beginning, under the same ticket. */
  startAgain(): void {
    if (this.isDead) return;
    this.node.marks?.hit("an event restarted itself");
    this.#stage = "stopped";
    this.node.startAgain(this.event);
  }

  /** Fails, whatever its code is at. */
  giveUp(error: HeadwaterError): void {
    if (!this.isDead) this.#finish(false, error);
  }

  /** Its own method, on another host, has ended well. */
  endedElsewhere(): void {
    this.publish();
    this.#stage = "succeeded";
  }

  /** Lets later events see what this one has left in the contexts that it has entered here. */
  publish(): void {
    for (let at = this.#first; at !== null; at = at.next) at.publish();
  }

  /** The context below that set the timer which started the event; null if it is the event's own. */
  get timerOwner(): Slot | null {
    const { origin, slot } = this.request;
    return origin.kind === "timer" && origin.owner !== undefined
      ? resolvePath(rootOf(slot), origin.owner)
      : null;
  }

  /** The first of the contexts that the event has entered on this host; each knows the next. */
  get firstEntered(): EnteredContext | null {
    return this.#first;
  }

  entryOf(slot: Slot): EnteredContext {
    const known = this.#entry(slot);
    if (known !== null) return known;
    const entry = new EnteredContext(slot);
    slot.users += 1;
    if (this.#first === null) this.#first = entry;
    else (this.#entries ??= new EnteredContexts(this.#first)).add(entry);
    return entry;
  }

  #entry(slot: Slot): EnteredContext | null {
    if (this.#entries !== null) return this.#entries.get(slot);
    return this.#first !== null && this.#first.slot === slot ? this.#first : null;
  }

  /**
   * Whether contexts exist for the event: ones that it has made or deleted, and ones that it has given up, which later events
   * may have made or deleted since.
   */
  existing(): ExistingContext[] {
    const existing: ExistingContext[] = [];
    for (let at = this.#first; at !== null; at = at.next) {
      const isChanged = isMaking(at);
      if (isChanged || at.released) existing.push({ slot: at.slot, exists: !isUnmade(at.state), isChanged });
    }
    return existing;
  }

  /** Adds what the event made of the contexts that it changed to what events before it made of them. */
  collectChanges(changes: Map<Slot, StateChange>): void {
    for (let at = this.#first; at !== null; at = at.next) collectChange(at, changes);
  }

  /** The contexts that it has changed, and whether it made or deleted them. */
  changes(note: (slot: Slot, isMade: boolean) => void): void {
    for (let at = this.#first; at !== null; at = at.next)
      if (at.state !== at.before) note(at.slot, isMaking(at));
  }

  /** On this host. */
  hasEntered(slot: Slot): boolean {
    return this.#entry(slot) !== null;
  }

  hasReleased(slot: Slot): boolean {
    return this.#entry(slot)?.released ?? false;
  }

  /** Lets a call go ahead: at once in a context that the event is in already, else when the core agrees. */
  enter(frame: Frame): void {
    const { slot } = frame;
    if (frame.isWhole) {
      this.node.call(this, frame);
      return;
    }
    const entry = this.#entry(slot);
    if (entry?.released) frame.refuse(rules.reacquire(slot, frame.method));
    else if (entry !== null || slot.shape.anonymous) this.node.runSoon(this, frame);
    else this.node.call(this, frame);
  }

  touched(): Iterable<Slot> {
    return this.enteredHere().map(({ slot }) => slot);
  }

  /** The contexts that the event has entered on this host. */
  enteredHere(): EnteredContext[] {
    return allFrom(this.#first);
  }

  /** The state of a context above as this event sees it, if it may. */
  stateSeen(slot: Slot): State | undefined {
    const seen =
      this.#entry(slot)?.current() ?? this.#elsewhere?.get(slot)?.state ?? this.request.seen?.get(slot);
    return seen === null ? slot.state : seen; // which throws what its field initialisers throw
  }

  /** The event holds a context on another host, or does not. */
  holdsElsewhere(slot: Slot, isHeld: boolean): void {
    this.#of(slot).isHeld = isHeld;
  }

  /** The event has left a context on another host in this state. */
  leftElsewhere(slot: Slot, state: State): void {
    this.#of(slot).state = state;
  }

  #of(slot: Slot): { isHeld: boolean; state: State | undefined } {
    this.#elsewhere ??= new Map();
    const known = this.#elsewhere.get(slot) ?? { isHeld: false, state: undefined };
    this.#elsewhere.set(slot, known);
    return known;
  }

  /** Does the event hold a context? Of those on other hosts this knows what mattered to the last call from there. */
  holds(slot: Slot): boolean {
    const entry = this.#entry(slot);
    return entry === null ? (this.#elsewhere?.get(slot)?.isHeld ?? false) : !entry.released;
  }

  countEffect(slot: Slot): void {
    this.#effects += 1;
    const { effectsPerEvent } = this.node.limits;
    if (this.#effects <= effectsPerEvent) return;
    throw new HeadwaterError(
      "HW-1302",
      `an event in ${slot} asked for more than ${effectsPerEvent} starts, messages and timers. ` +
        "Spread them over several events, or raise `limits.effectsPerEvent`.",
    );
  }

  /** Undoes what a failed call had changed, latest first. Others may have seen part of it. */
  rollBackCalls(undone: readonly UndoRecord[], done: () => void): void {
    const restore = () => {
      if (this.isDead) return;
      for (const { entry, state, version } of [...undone].reverse()) entry.restore(state, version);
      done();
    };
    if (
      undone.some(
        ({ entry, state, version }) => entry.published && version < entry.version && entry.state !== state,
      )
    )
      this.node.retract(this.event, restore); // events that have seen it are rolled back first
    else restore();
  }

  /** Puts the contexts back to their state before the event; later events have been undone already. */
  rollBack(): void {
    if (this.#stage === "rolled back") return; // and the event has not been tried again since
    this.leave();
    this.#stage = "rolled back";
    if (this.#entries === null) this.#first?.rollBack();
    else for (const entry of this.enteredHere().reverse()) entry.rollBack();
  }

  /** The journal has it, or it is taken back: nothing keeps the contexts in memory for its sake. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    for (let at = this.#first; at !== null; at = at.next) at.slot.users -= 1;
  }

  #finish(ok: boolean, value: unknown): void {
    this.#stage = ok ? "succeeded" : "failed";
    this.value = value;
    if (!ok) this.effects = NO_EFFECTS;
    this.node.finish(this.event, this.#outcome());
  }

  #outcome(): Outcome<EventRequest> {
    if (this.effects.length === 0) return this.ok ? NOTHING_MORE : FAILED;
    return outcomeOf(this.event, this.effects);
  }
}

interface ExistingContext {
  readonly slot: Slot;
  readonly exists: boolean;
  /** Has the event made or deleted it? */
  readonly isChanged: boolean;
}

/** Does the context exist now, and did not before the event, or the other way round? */
function isMaking({ before, state }: EnteredContext): boolean {
  return state !== before && isUnmade(before) !== isUnmade(state);
}

function collectChange({ slot, state, before }: EnteredContext, changes: Map<Slot, StateChange>): void {
  if (state === before) return;
  const change = changes.get(slot);
  if (change === undefined) changes.set(slot, { before, after: state });
  else change.after = state;
}

const NO_EFFECTS: readonly Effect[] = [];
