import type { HeadwaterError } from "../../errors.js";
import * as rules from "../../model/rules.js";
import type { Method } from "../../model/shape.js";
import { Watched } from "../../model/watched.js";
import type { State } from "../../state/fields.js";
import type { Slot } from "../context/index.js";
import { Call } from "./call.js";
import type { Frame } from "./frame.js";
import type { Undo } from "./guest.js";
import { Turns } from "./turns.js";

/** A call of an async method of the context itself. */
export class OwnCall extends Watched {
  constructor(readonly method: { readonly name: string }) {
    super();
  }
}

Reflect.deleteProperty(OwnCall.prototype, "constructor"); // as in `Call`

const NONE: readonly never[] = [];

/** Most methods have none of them, so lists are made with their first item. */
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
 */
export class CallsBelow {
  #calls: (Call | OwnCall)[] | null = null;
  /** How many of them need not be handed over any more. */
  #handedOver = 0;
  /** How many have not ended. */
  #active = 0;
  /** The first of them, as long as it is the only one. */
  #alone: Frame | null = null;
  #turns: Turns | null = null;
  /** Those whose turn has come. */
  #next: Frame[] | null = null;
  /** What to undo if the method fails, oldest first. */
  undo: readonly Undo[] = NONE;
  /** Those that have changed something on other hosts. */
  elsewhere: readonly number[] = NONE;
  /** Does the method go on when its code has come to rest? */
  isDue = false;
  settled: Settled | null = null;
  /** What its code did after it had returned. */
  leftBehind: HeadwaterError | null = null;

  add(call: Call | OwnCall): void {
    this.#calls ??= [];
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

  /** Is there a result that is to be handed over next? */
  get hasResult(): boolean {
    return this.#first()?.hasResult ?? false;
  }

  /** Hands over the result of the first call whose result has not been, if it is there. */
  handOver(): boolean {
    const call = this.#first();
    if (!call?.hasResult) return false;
    this.#handedOver += 1;
    call.end(call.ok, call.value);
    call.value = undefined;
    return true;
  }

  #first(): Call | null {
    const calls = this.#calls ?? NONE;
    for (; this.#handedOver < calls.length; this.#handedOver++) {
      const call = calls[this.#handedOver];
      if (call instanceof Call && !call.hasEnded) return call;
    }
    return null;
  }

  /** Has the method called this one, and not got the result? */
  isUnderWay(method: Method): boolean {
    for (const call of this.#calls ?? NONE) if (call.method === method && !call.hasEnded) return true;
    return false;
  }

  /** One of them has changed a context. */
  changed(undo: Undo): void {
    this.undo = appended(this.undo, undo);
  }

  /** One of them has changed something on another host. */
  changedElsewhere(call: number): void {
    this.elsewhere = appended(this.elsewhere, call);
  }

  /** One of them has made calls itself. */
  changedAlso({ undo, elsewhere }: CallsBelow): void {
    for (const each of undo) this.changed(each); // there may be more than fit on a stack
    for (const each of elsewhere) this.changedElsewhere(each);
  }

  /** Can no code of the method be under way on account of them? */
  get areOver(): boolean {
    for (const call of this.#calls ?? NONE) if (!call.isOver) return false;
    return true;
  }

  /**
   * A method may end before a call that somebody waits for, or before what the program has made of one: `Promise.all`
   * gives up at the first that fails, `Promise.race` at the first that ends. Null if there is no such call.
   */
  open(): readonly Watched[] | null {
    const calls = this.#calls ?? NONE;
    for (let i = 0; i < calls.length; i++) {
      const { hasEnded, followUps } = calls[i] as Watched;
      if (hasEnded && followUps === null) continue;
      const open: Watched[] = [];
      for (; i < calls.length; i++) calls[i]?.addOpen(open);
      return open.length === 0 ? null : open;
    }
    return null;
  }

  /** A call that was not awaited dooms the event, and so does a call that was doomed itself. */
  doomOf(slot: Slot, method: Method): HeadwaterError | null {
    for (const call of this.#calls ?? NONE) {
      const isOver = call.hasEnded && !call.isForgotten;
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
