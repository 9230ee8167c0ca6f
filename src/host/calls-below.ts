import type { HeadwaterError } from "../errors.js";
import * as rules from "../model/rules.js";
import type { Method } from "../model/shape.js";
import type { Watched } from "../model/watched.js";
import type { Call } from "./call.js";
import type { Frame } from "./frame.js";
import type { Undo } from "./guest.js";
import type { Slot } from "./slot.js";
import { Turns } from "./turns.js";

/**
 * The calls that one method makes. Each waits for those made before it in the same context, above or below it; so
 * what an event does, does not depend on timing, and undoing one call never touches what another one did.
 */
export class CallsBelow {
  readonly #calls: Call[] = [];
  /** How many have not ended. */
  #active = 0;
  /** The first of them, as long as it is the only one. */
  #alone: Frame | null = null;
  #turns: Turns | null = null;
  /** Those whose turn has come. */
  #next: Frame[] | null = null;
  /** What they have changed here, oldest first. */
  readonly undo: Undo[] = [];
  /** Those that have changed something on other hosts. */
  readonly elsewhere: number[] = [];

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** Lets the call go ahead when its turn has come. */
  enqueue(frame: Frame): void {
    this.#active += 1;
    if (this.#active === 1) {
      this.#alone = frame;
    } else {
      this.#turns ??= new Turns();
      if (this.#alone !== null) this.#turns.add(this.#alone);
      this.#alone = null;
      if (!this.#turns.add(frame)) return;
    }
    frame.execution.enter(frame);
  }

  ended(frame: Frame): void {
    this.#active -= 1;
    this.#alone = null;
    const next = this.#turns?.remove(frame) ?? [];
    if (this.#active === 0) this.#turns = null;
    if (next.length > 0) this.#enterAll(next);
  }

  /** A call that is refused ends at once, and others may have their turn then: after those before it. */
  #enterAll(frames: readonly Frame[]): void {
    const isUnderWay = this.#next !== null;
    this.#next ??= [];
    for (const frame of frames) this.#next.push(frame);
    if (isUnderWay) return;
    for (const frame of this.#next) frame.execution.enter(frame); // also those that are added on the way
    this.#next = null;
  }

  /** One of them has made calls itself. */
  changedAlso({ undo, elsewhere }: CallsBelow): void {
    for (const each of undo) this.undo.push(each); // there may be more than fit on a stack
    for (const each of elsewhere) this.elsewhere.push(each);
  }

  /**
   * A method may end before a call that somebody waits for, or before what the program has made of one: `Promise.all`
   * gives up at the first that fails, `Promise.race` at the first that ends. Null if there is no such call.
   */
  open(): readonly Watched[] | null {
    const calls = this.#calls;
    for (let i = 0; i < calls.length; i++) {
      const { hasEnded, followUps } = calls[i] as Call;
      if (hasEnded && followUps === null) continue;
      const open: Watched[] = [];
      for (; i < calls.length; i++) calls[i]?.addOpen(open);
      return open.length === 0 ? null : open;
    }
    return null;
  }

  /** A call that was not awaited dooms the event, and so does a call that was doomed itself. */
  doomOf(slot: Slot, method: Method): HeadwaterError | null {
    for (const call of this.#calls) {
      if (call.isForgotten || !call.hasEnded) return rules.unawaited(slot, method, call.slot, call.method);
      if (call.doom !== null) return call.doom;
    }
    return null;
  }
}

/** Calls back when all of them have ended. */
export function whenOver(open: readonly Watched[], callback: () => void): void {
  let left = open.length;
  const ended = () => {
    left -= 1;
    if (left === 0) callback();
  };
  for (const each of open) each.onEnd = ended;
}
