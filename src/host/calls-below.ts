import type { HeadwaterError } from "../errors.js";
import * as rules from "../model/rules.js";
import type { Method } from "../model/shape.js";
import type { Watched } from "../model/watched.js";
import type { Call } from "./call.js";
import type { Frame } from "./frame.js";
import type { Undo } from "./guest.js";
import type { Slot } from "./slot.js";

/**
 * The calls that one method makes. Each waits for those made before it in the same context, above or below it; so
 * what an event does, does not depend on timing, and undoing one call never touches what another one did.
 */
export class CallsBelow {
  readonly #calls: Call[] = [];
  readonly #active: Frame[] = [];
  /** What they have changed here, oldest first. */
  readonly undo: Undo[] = [];
  /** Those that have changed something on other hosts. */
  readonly elsewhere: number[] = [];

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** Lets the call go ahead when its turn has come. */
  enqueue(frame: Frame): void {
    this.#active.push(frame);
    this.#enterInTurn(frame);
  }

  ended(frame: Frame): void {
    this.#active.splice(this.#active.indexOf(frame), 1);
    // A call that is refused ends at once, so the list may change on the way.
    for (const next of [...this.#active]) this.#enterInTurn(next);
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

  #enterInTurn(frame: Frame): void {
    const { answer } = frame;
    if (answer === null || answer.hasEntered || this.#mustWait(frame)) return;
    answer.hasEntered = true;
    frame.execution.enter(frame);
  }

  #mustWait(frame: Frame): boolean {
    for (const earlier of this.#active) {
      if (earlier === frame) return false;
      if (overlap(earlier.slot, frame.slot)) return true;
    }
    return false;
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

/** Is one of them the other, or below it? */
function overlap(one: Slot, other: Slot): boolean {
  if (one.depth === other.depth) return one === other;
  return one.depth > other.depth ? one.isBelow(other) : other.isBelow(one);
}
