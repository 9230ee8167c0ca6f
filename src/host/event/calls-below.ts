import type { HeadwaterError } from "../../errors.js";
import * as rules from "../../model/rules.js";
import type { Method } from "../../model/shape.js";
import type { Watched } from "../../model/watched.js";
import type { State } from "../../state/fields.js";
import type { Slot } from "../context/index.js";
import { Call, OwnCall } from "./call.js";
import type { Frame } from "./frame.js";
import type { UndoRecord } from "./guest.js";
import { CallTurns } from "./turns.js";

const NONE: readonly never[] = [];

/** Most methods have none of them, so the list is made with its first item. */
function appended<T>(list: readonly T[], item: T): readonly T[] {
  if (list.length === 0) return [item];
  (list as T[]).push(item);
  return list;
}

/** What a method returned or threw, when other code of it may still be under way. */
interface Settled {
  readonly ok: boolean;
  readonly value: unknown;
  /** The state of its context at that moment; null if it threw. */
  readonly state: State | null;
}

/**
 * The calls that one method makes. Each waits for those made before it in the same context, above or below it; so
 * undoing one call never touches what another one did. Their results are handed over in the order of the calls.
 *
 * Calls and what they changed are chained through themselves: most methods make few, one after the other.
 */
export class CallsBelow {
  #first: Call | OwnCall | null = null;
  #last: Call | OwnCall | null = null;
  /** Those before it need not be handed over any more. */
  #next: Call | OwnCall | null = null;
  /** How many have not ended. */
  #active = 0;
  /** The first of them, as long as it is the only one. */
  #alone: Frame | null = null;
  #turns: CallTurns | null = null;
  /** Those whose turn has come. */
  #entering: Frame[] | null = null;
  /** What to undo if the method fails, from the oldest to the latest. */
  #changed: UndoRecord | null = null;
  #lastChanged: UndoRecord | null = null;
  /** Calls that have changed something on other hosts. */
  elsewhere: readonly number[] = NONE;
  /** Does the method go on when its code has come to rest? */
  isDue = false;
  settled: Settled | null = null;
  /** What its code did after it had returned. */
  leftBehind: HeadwaterError | null = null;

  add(call: Call | OwnCall): void {
    if (this.#last === null) this.#first = call;
    else this.#last.next = call;
    this.#last = call;
    this.#next ??= call;
  }

  /** Lets the call go ahead when its turn has come. */
  enqueue(frame: Frame): void {
    this.#active += 1;
    if (this.#active === 1) {
      this.#alone = frame;
    } else {
      this.#turns ??= new CallTurns();
      if (this.#alone !== null) this.#turns.add(this.#alone);
      this.#alone = null;
      if (!this.#turns.add(frame)) return;
    }
    frame.execution.enter(frame);
  }

  ended(frame: Frame): void {
    this.#active -= 1;
    this.#alone = null;
    if (this.#turns === null) return;
    const next = this.#turns.remove(frame);
    if (this.#active === 0) this.#turns = null;
    if (next.length > 0) this.#enterAll(next);
  }

  /** A call may end at once, and others may have their turn then: after those before it. */
  #enterAll(frames: readonly Frame[]): void {
    const isUnderWay = this.#entering !== null;
    this.#entering ??= [];
    for (const frame of frames) this.#entering.push(frame);
    if (isUnderWay) return;
    for (const frame of this.#entering) frame.execution.enter(frame); // also frames that are added on the way
    this.#entering = null;
  }

  /** Is there a result that is to be handed over next? */
  get hasResult(): boolean {
    const call = this.#toHandOver();
    return call !== null && call.result !== null;
  }

  /** Hands over the result of the first call whose result has not been, if it is there. */
  handOver(): boolean {
    const call = this.#toHandOver();
    if (call === null || call.result === null) return false;
    this.#next = call.next;
    call.promise.end(call.result === "returned", call.value);
    call.value = undefined;
    return true;
  }

  #toHandOver(): Call | null {
    for (let at = this.#next; at !== null; at = at.next) {
      this.#next = at;
      if (at instanceof Call && !at.promise.hasEnded) return at;
    }
    this.#next = null;
    return null;
  }

  /** Has the method called this one, and not got the result? */
  isUnderWay(method: Method): boolean {
    for (let at = this.#first; at !== null; at = at.next)
      if (at.method === method && !at.promise.hasEnded) return true;
    return false;
  }

  /** One of them has changed a context. */
  changed(changed: UndoRecord, last = changed): void {
    if (this.#lastChanged === null) this.#changed = changed;
    else this.#lastChanged.later = changed;
    this.#lastChanged = last;
  }

  /** One of them has changed something on another host. */
  changedElsewhere(call: number): void {
    this.elsewhere = appended(this.elsewhere, call);
  }

  /** One of them has made calls itself. */
  changedAlso(below: CallsBelow): void {
    if (below.#changed !== null && below.#lastChanged !== null)
      this.changed(below.#changed, below.#lastChanged);
    for (const each of below.elsewhere) this.changedElsewhere(each);
  }

  /** What to undo if the method fails, oldest first. */
  undoRecords(): UndoRecord[] {
    const undo: UndoRecord[] = [];
    for (let at = this.#changed; at !== null; at = at.later) undo.push(at);
    return undo;
  }

  /** Can no code of the method be under way on account of them? */
  get areOver(): boolean {
    for (let at = this.#first; at !== null; at = at.next) if (!at.promise.isOver) return false;
    return true;
  }

  /**
   * A method may end before a call that is awaited, or before what the program has made of one: `Promise.all`
   * gives up at the first that fails, `Promise.race` at the first that ends. Null if there is no such call.
   */
  open(): readonly Watched[] | null {
    const open: Watched[] = [];
    for (let at = this.#first; at !== null; at = at.next)
      if (!at.promise.hasEnded || at.promise.followUps !== null) at.promise.addOpen(open);
    return open.length === 0 ? null : open;
  }

  /** A call that was not awaited dooms the event, and so does a call that was doomed itself. */
  doomOf(slot: Slot, method: Method): HeadwaterError | null {
    for (let call = this.#first; call !== null; call = call.next) {
      const isOver = call.promise.hasEnded && !call.promise.isForgotten;
      if (call instanceof OwnCall) {
        if (!isOver) return rules.unawaitedOwn(slot, method, call.method);
        continue;
      }
      if (call.isLate) break;
      if (!isOver) return rules.unawaited(slot, method, call.slot, call.method);
      if (call.doom !== null) return call.doom;
    }
    return this.leftBehind;
  }
}
