import type { CoreEvent, Outcome } from "../core/event.js";
import { HeadwaterError } from "../errors.js";
import * as rules from "../model/rules.js";
import type { State } from "../state/fields.js";
import { copyThrown } from "../state/values.js";
import type { Effect } from "./effects.js";
import { Entry } from "./entry.js";
import { type Ended, Frame } from "./frame.js";
import type { LogicalNode } from "./node.js";
import type { EventRequest } from "./request.js";
import type { Slot } from "./slot.js";

/** One try at running an event: the contexts it has entered, and how it ended. */
export class Execution {
  readonly request: EventRequest;
  readonly #entries = new Map<Slot, Entry>();
  #effects = 0;
  /** Ended or taken back: whatever its methods return counts for nothing. */
  isDead = false;
  /** Undone: what its code still asks for is not even refused, because a later try may not ask for it. */
  wasTakenBack = false;
  ended: Ended | null = null;
  /** What the event asked for, once it has ended well. */
  effects: readonly Effect[] = [];

  constructor(
    readonly node: LogicalNode,
    readonly event: CoreEvent<EventRequest>,
  ) {
    this.request = event.payload;
  }

  start(): void {
    const { slot, method, args } = this.request;
    const frame = new Frame(this, null, slot, method, args, 0, (ended) => {
      if (ended.ok) this.#succeed(ended, frame);
      else this.#finish(ended);
    });
    frame.run();
  }

  /** Is there nothing to do, because the timer that started this event was cancelled by an earlier one? */
  isVoid(entry: Entry): boolean {
    const { origin } = this.request;
    if (origin.kind !== "timer") return false;
    if (!entry.armed.includes(origin.id)) {
      this.node.marks?.hit("a cancelled timer had fired already");
      return true;
    }
    entry.disarm(origin.id);
    return false;
  }

  entryOf(slot: Slot): Entry {
    let entry = this.#entries.get(slot);
    if (entry === undefined) {
      entry = new Entry(slot);
      this.#entries.set(slot, entry);
    }
    return entry;
  }

  hasReleased(slot: Slot): boolean {
    return this.#entries.get(slot)?.released ?? false;
  }

  /** Lets a call go ahead: at once in a context that the event is in already, else when the core agrees. */
  enter(frame: Frame): void {
    const { slot } = frame;
    if (this.hasReleased(slot)) {
      frame.onEnd({ ok: false, value: rules.reacquire(slot, frame.method) });
    } else if (slot.shape.anonymous || this.#entries.has(slot)) {
      this.node.runSoon(this, frame);
    } else {
      this.node.call(this, frame);
    }
  }

  /** The state of a context above as this event sees it, if it may. */
  stateSeen(slot: Slot): State | undefined {
    return this.#entries.get(slot)?.current() ?? this.request.views?.get(slot);
  }

  downgrade(slot: Slot, entry: Entry): void {
    if (entry.released || slot.shape.anonymous) return;
    if (this.request.method.readonly) throw rules.readonlyDowngrade(slot);
    for (let above = slot.parent; above !== null; above = above.parent) {
      const held = this.#entries.get(above);
      if (held !== undefined && !held.released) throw rules.downgradeBelowHeld(slot, above);
    }
    entry.keepRunning(entry.current());
    entry.release();
    this.node.release(this.event, slot, entry.state !== entry.before);
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
  takeBack(undone: readonly { entry: Entry; state: State }[]): void {
    if (undone.some(({ entry, state }) => entry.published && entry.state !== state)) this.node.retract(this.event);
    for (const { entry, state } of [...undone].reverse()) entry.restore(state);
  }

  /** The event fails as a whole, whatever its methods catch. */
  fail(error: unknown): void {
    this.#finish({ ok: false, value: copyThrown(error) });
  }

  /** Puts the contexts back to their state before the event; later events have been undone already. */
  undo(): void {
    this.isDead = true;
    this.wasTakenBack = true;
    for (const entry of [...this.#entries.values()].reverse()) entry.undo();
  }

  #succeed(ended: Ended, frame: Frame): void {
    this.effects = frame.effects.flatten();
    const refusal = this.node.refuse(this.effects);
    if (refusal !== null) return this.fail(refusal);
    for (const entry of this.#entries.values()) entry.publish();
    this.#finish(ended);
  }

  #finish(ended: Ended): void {
    this.isDead = true;
    this.ended = ended;
    if (!ended.ok) this.effects = [];
    this.node.finish(this.event, this.#outcome(ended));
  }

  #outcome(ended: Ended): Outcome<EventRequest> {
    if (this.effects.length === 0) return ended.ok ? NOTHING_MORE : FAILED;
    return this.node.outcomeOf(this.event, this.effects);
  }
}

const NOTHING_MORE: Outcome<EventRequest> = { failed: false, starts: [], messages: [] };
const FAILED: Outcome<EventRequest> = { failed: true, starts: [], messages: [] };
