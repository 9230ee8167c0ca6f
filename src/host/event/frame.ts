import type { HeadwaterError } from "../../errors.js";
import type { Address } from "../../model/address.js";
import type { Page } from "../../model/below.js";
import type { Activation, Context } from "../../model/context.js";
import { givenInside } from "../../model/inside.js";
import type { Key } from "../../model/key.js";
import * as rules from "../../model/rules.js";
import { explained } from "../../model/sealed.js";
import type { Method } from "../../model/shape.js";
import { awaitResult, isThenable, type Watched } from "../../model/watched.js";
import { changedFields, type State } from "../../state/fields.js";
import { areSimple, copy, copyAll, copyThrown, isSimple } from "../../state/values.js";
import type { Slot } from "../context/index.js";
import { Asking } from "./asking.js";
import { DISARM, disarm, isWhole, LIST } from "./builtins.js";
import { Call, OwnCall } from "./call.js";
import { checkCall, positionsOf, usedTooLate } from "./callers.js";
import { CallsBelow } from "./calls-below.js";
import { downgrade } from "./downgrade.js";
import { type Effect, Effects } from "./effects.js";
import type { EnteredContext } from "./entered-context.js";
import type { Execution } from "./execution.js";
import type { Done, Guest, Returned, UndoRecord } from "./guest.js";
import { running } from "./running.js";

/** For what the head has answered itself: there is nothing to take back. */
export const NO_CALL = 0;
const NOTHING: Done = { undo: [], elsewhere: [] };
/** Between the place of one call and that of the next. */
const BEHIND = 0.5;

/**
 * One method of an event while it runs: what `this.event` is, how calls below are made, and what to undo if it
 * fails. Frames form a tree; the first one is the event's own method.
 *
 * What an event does must not depend on how long its calls take. So a frame hands the results of its calls over in the
 * order of the calls, each when all code that the one before has set going has come to rest; a call sees the contexts
 * of its callers as they were when it was made; and a method has ended when its code has come to rest.
 */
export class Frame implements Activation {
  effects: Effects | null = null;
  entry: EnteredContext | null = null;
  /** The state of the context when this method began. */
  #before: State | null = null;
  #beforeVersion = 0;
  /** Its calls. A method without any has ended when it has returned. */
  #below: CallsBelow | null = null;
  #asked = 0;
  #running = false;
  #doom: HeadwaterError | null = null;
  #event: Asking | null = null;

  constructor(
    readonly execution: Execution,
    readonly outer: Frame | null,
    readonly slot: Slot,
    readonly method: Method,
    readonly args: unknown[],
    /** What its caller waits for; null for the event's own method. */
    readonly answer: Call | null,
    /** Set for a call that came from another host. */
    readonly guest: Guest | null,
  ) {}

  /** Most methods do not ask for it. */
  get event(): Asking {
    this.#event ??= new Asking(this);
    return this.#event;
  }

  /** Runs the method; the core has let the event in. */
  run(): void {
    const { slot, execution, outer, guest } = this;
    if (execution.isDead) return;
    this.#running = true;
    try {
      this.entry = execution.entryOf(slot);
      this.#before = this.entry.state;
      this.#beforeVersion = this.entry.version;
    } catch (error) {
      return this.#settle(false, error);
    }
    if (outer !== null || guest !== null || execution.request.origin.kind !== "timer") this.#go(this.entry);
    else this.#goIfArmed(this.entry, execution.timerOwner);
  }

  #go(entry: EnteredContext): void {
    let result: unknown;
    try {
      result = this.#runIn(entry.activate(this));
      if (isThenable(result)) {
        if (!entry.mayTakeTime(this.method)) this.execution.startAgain();
        return awaitResult(
          result,
          (value) => this.#settleLater(true, value),
          (error) => this.#settleLater(false, error),
        );
      }
    } catch (error) {
      return this.#settle(false, error);
    }
    this.#settle(true, result);
  }

  /** Nothing happens if an earlier event has cancelled the timer that started this one. */
  #goIfArmed(entry: EnteredContext, owner: Slot | null): void {
    if (owner === null) {
      entry.activate(this);
      return disarm(this) ? this.#go(entry) : this.#settle(true, undefined);
    }
    const call = new Call(owner, DISARM, 0);
    call.promise.wait(
      (isArmed) => (isArmed === true ? this.#goLater(entry) : this.#settleLater(true, undefined)),
      (error) => this.#settleLater(false, error),
    );
    this.#ask(call, [], () => []);
  }

  #runIn(context: Context<Key>): unknown {
    const { slot, method } = running;
    running.slot = this.slot;
    running.method = this.method;
    try {
      return this.method.body.apply(context, this.args);
    } finally {
      running.slot = slot;
      running.method = method;
    }
  }

  #goLater(entry: EnteredContext): void {
    try {
      if (!this.execution.isDead) this.#go(entry);
    } catch (error) {
      this.execution.node.broken(error);
    }
  }

  #settleLater(ok: boolean, value: unknown): void {
    try {
      this.#settle(ok, value);
    } catch (error) {
      this.execution.node.broken(error);
    }
  }

  /** The method has returned or thrown. Code that goes on after its calls may still be under way. */
  #settle(ok: boolean, value: unknown): void {
    if (this.#below === null || this.#below.areOver) this.#end(ok, value);
    else if (!this.execution.isDead) this.#comeToRest(this.#below, ok, value);
  }

  #comeToRest(below: CallsBelow, ok: boolean, value: unknown): void {
    try {
      below.settled = { ok, value, state: ok ? (this.entry?.current() ?? null) : null };
    } catch (error) {
      below.settled = { ok: false, value: error, state: null };
    }
    this.#goOnAtRest(below);
  }

  #goOnAtRest(below: CallsBelow): void {
    if (below.isDue) return;
    below.isDue = true;
    this.execution.node.rest.add(this);
  }

  /** All code that can run has run. */
  rested(): void {
    const below = this.#below;
    if (below === null) return;
    below.isDue = false;
    if (this.execution.isDead) return;
    const { settled } = below;
    if (below.handOver()) {
      if (settled !== null || below.hasResult) this.#goOnAtRest(below);
    } else if (settled !== null) {
      const open = below.open();
      if (open === null) return this.#end(settled.ok, settled.value);
      const goOn = () => this.#goOnAtRest(below);
      for (const each of open) each.onEnd = goOn;
    }
  }

  #end(returned: boolean, value: unknown): void {
    const { execution, slot, method, entry } = this;
    if (execution.isDead) return;
    this.#running = false;
    if (this.#below !== null) this.#doom = this.#below.doomOf(slot, method);
    if (!returned || entry === null || this.#doom !== null) return this.#fail(value);
    let state: State;
    let result: unknown;
    try {
      state = this.#checkedState(entry);
      result = isSimple(value) ? value : copy(value, () => rules.resultOf(slot, method));
    } catch (error) {
      return this.#fail(error);
    }
    entry.keep(state);
    if (this.outer !== null) {
      const among = this.outer.#below;
      if (state !== this.#before) among?.changed(this.#undoOf(entry));
      if (this.#below !== null) among?.changedAlso(this.#below);
    }
    this.#leave(true, result);
  }

  #fail(error: unknown): void {
    const undone = this.#undone();
    this.effects?.clear();
    const leave = () =>
      this.#leave(false, this.#doom ?? copyThrown(explained(error, this.slot, this.method)));
    if (this.outer === null && this.guest === null) return leave(); // the whole event is undone
    this.execution.rollBackCalls(undone, () => {
      if (this.#elsewhere.length === 0) return leave();
      this.execution.node.rollBackElsewhere(this.execution.event, this.#elsewhere, leave);
    });
  }

  #undone(): readonly UndoRecord[] {
    const below = this.#below?.undoRecords() ?? [];
    return this.entry === null ? below : [this.#undoOf(this.entry), ...below];
  }

  #undoOf(entry: EnteredContext): UndoRecord {
    return { entry, state: this.#before as State, version: this.#beforeVersion, later: null };
  }

  get #elsewhere(): readonly number[] {
    return this.#below?.elsewhere ?? [];
  }

  /** A call ran on another host, and this is what became of it there. */
  returned({ call, ok, value, doom, effects }: Returned): void {
    this.#doom = doom;
    if (ok) {
      if (call === NO_CALL && (value as Page<Key>).next !== undefined)
        this.execution.node.marks?.hit("a page of children was not the last");
      for (const effect of effects) this.add(effect);
      if (this.outer !== null && call !== NO_CALL) this.outer.#below?.changedElsewhere(call);
    }
    this.#leave(ok, value);
  }

  /** The call cannot go ahead. */
  refuse(error: HeadwaterError): void {
    this.#leave(false, error);
  }

  #leave(ok: boolean, value: unknown): void {
    const { outer, answer, guest } = this;
    if (guest !== null) {
      const done = ok ? { undo: this.#undone(), elsewhere: this.#elsewhere } : NOTHING;
      return guest.leave(this, ok, value, this.#doom, done);
    }
    if (outer === null || answer === null) return this.execution.end(this, ok, value);
    answer.doom = this.#doom;
    outer.#below?.ended(this);
    outer.#takeResult(answer, ok, value);
  }

  /** Its caller gets to know when its turn has come. */
  #takeResult(call: Call, ok: boolean, value: unknown): void {
    if (!ok) givenInside(value, this.slot, this.method);
    call.result = ok ? "returned" : "threw";
    call.value = value;
    if (this.execution.node.plant === "results-as-they-come") call.promise.end(ok, value);
    if (this.#below?.hasResult) this.#goOnAtRest(this.#below);
  }

  /** The state that the method leaves, if it may. */
  #checkedState(entry: EnteredContext): State {
    const { slot, method } = this;
    const state = entry.current();
    const settled = this.#below?.settled;
    if (settled?.state != null && state !== settled.state) {
      const changed = changedFields(slot, settled.state, state);
      if (changed.length > 0) this.#doom = rules.leftBehind(slot, method, rules.did.change(changed));
    }
    if (method.readonly && state !== this.#before) {
      const changed = changedFields(slot, this.#before as State, state);
      if (changed.length > 0) this.#doom ??= rules.readonlyChanged(slot, method, changed);
    }
    const late = entry.released && state !== entry.state ? changedFields(slot, entry.state, state) : null;
    if (late !== null && late.length > 0) this.#doom ??= rules.writeAfterDowngrade(slot, late);
    if (this.#doom !== null) throw this.#doom;
    if (late !== null) entry.restore(entry.state, entry.version); // changed and changed back: later events may have gone on from it
    return late === null ? state : entry.state;
  }

  call(target: Address, method: Method, args: unknown[]): Promise<unknown> {
    return this.#mayCall(target as Slot, method, args, null);
  }

  askWhole(target: Address, method: Method, prepare: () => unknown[]): Promise<unknown> {
    return this.#mayCall(target as Slot, method, [], prepare);
  }

  #mayCall(slot: Slot, method: Method, args: unknown[], prepare: (() => unknown[]) | null): Watched {
    const call = new Call(slot, method, this.#asked + 1);
    if (this.execution.wasTakenBack) return call.promise; // its code stops here
    if (this.#below !== null && this.#isTooLate(rules.did.call, slot, method)) return this.#refuseLate(call);
    this.#asked += 1;
    if (this.#running) this.#ask(call, args, prepare);
    else call.promise.end(false, usedTooLate(this, `${slot}.${method.name}(…)`));
    return call.promise;
  }

  /** Makes a call, unless it is refused. `prepare`, if given, gives the arguments. */
  #ask(call: Call, args: unknown[], prepare: (() => unknown[]) | null): void {
    const { execution, entry } = this;
    this.#below ??= new CallsBelow();
    this.#below.add(call);
    try {
      const given = prepare === null ? this.#given(call, args) : prepare();
      call.callerHeld = entry !== null && !entry.released;
      if (entry !== null && (this.slot.shape.isReadBelow || execution.node.keepsStates))
        call.callerState = entry.stateAtCall();
      this.#below.enqueue(new Frame(execution, this, call.slot, call.method, given, call, null));
    } catch (error) {
      this.#takeResult(call, false, error);
    }
  }

  #given({ slot, method }: Call, args: unknown[]): unknown[] {
    checkCall(this, slot, method);
    return areSimple(args) ? args : copyAll(args, () => rules.argumentsOf(slot, method));
  }

  /** The code that was left behind gets to know, or what waits for it would wait for ever. */
  #refuseLate(call: Call): Watched {
    call.isLate = true;
    this.#below?.add(call);
    const did = rules.did.call(call.slot, call.method);
    this.#takeResult(call, false, rules.leftBehind(this.slot, this.method, did));
    return call.promise;
  }

  own(method: { readonly name: string }, promise: Promise<unknown>): Promise<unknown> {
    const { wasTakenBack } = this.execution;
    if (wasTakenBack) promise.catch(() => {}); // a later attempt does what it does
    if (!this.#running || wasTakenBack) return promise;
    const own = new OwnCall(method);
    this.#below ??= new CallsBelow();
    this.#below.add(own);
    promise.then(
      (value) => own.promise.end(true, value),
      (error: unknown) => own.promise.end(false, error),
    );
    return own.promise;
  }

  /** A method that has returned may do nothing more; what one that has thrown does counts for nothing. */
  #isTooLate<A extends unknown[]>(did: string | ((...args: A) => string), ...args: A): boolean {
    const below = this.#below;
    if (below === null || below.settled === null || !this.#running) return false;
    if (below.settled.ok) {
      const what = typeof did === "string" ? did : did(...args);
      below.leftBehind ??= rules.leftBehind(this.slot, this.method, what);
    }
    return true;
  }

  downgrade(): void {
    if (this.execution.wasTakenBack || this.#isTooLate(rules.did.downgrade)) return;
    if (this.#below?.isUnderWay(LIST)) throw rules.badList(this.slot, rules.noList.underWay);
    downgrade(this, this.entry as EnteredContext);
  }

  /** Is it about a context and all that is below it? */
  get isWhole(): boolean {
    return isWhole(this.method);
  }

  nextPosition(): number[] {
    this.#asked += 1;
    return positionsOf(this, this.#asked);
  }

  push(effect: Effect): void {
    if (this.execution.wasTakenBack || this.#isTooLate(rules.did.ask)) return;
    if (!this.#running) throw usedTooLate(this, "this.event");
    this.execution.countEffect(this.slot);
    this.add(effect);
  }

  /** It stands behind the calls that the method has made so far, and before those it makes from now on. */
  add(effect: Effect): void {
    this.#ownEffects().push(effect, this.#asked + BEHIND);
  }

  #ownEffects(): Effects {
    if (this.effects !== null) return this.effects;
    this.effects = new Effects();
    if (this.outer !== null && this.answer !== null)
      this.outer.#ownEffects().push(this.effects, this.answer.position);
    return this.effects;
  }
}
