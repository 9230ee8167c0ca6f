import { HeadwaterError } from "../errors.js";
import type { Address } from "../model/address.js";
import {
  type Activation,
  addressAbove,
  type Context,
  type ContextClass,
  declaredReads,
} from "../model/context.js";
import type { TimerId } from "../model/event.js";
import type { Key } from "../model/key.js";
import { Outside, type OutsideResult } from "../model/outside.js";
import { isTimerOf, timerId } from "../model/path.js";
import {
  type Elsewhere,
  INVOKE,
  type Later,
  Reference,
  reference,
  type Target,
  type View,
} from "../model/refs.js";
import * as rules from "../model/rules.js";
import { explained } from "../model/sealed.js";
import type { Method } from "../model/shape.js";
import { Watched } from "../model/watched.js";
import { changedFields, type State, viewOf } from "../state/fields.js";
import { copy, copyAll, copyThrown, isSimple } from "../state/values.js";
import { Call } from "./call.js";
import { CallsBelow, whenOver } from "./calls-below.js";
import { dueAfter } from "./due.js";
import { type Effect, Effects } from "./effects.js";
import type { Entry } from "./entry.js";
import type { Execution } from "./execution.js";
import type { Done, Guest, Returned, Undo } from "./guest.js";
import { running } from "./running.js";
import type { Slot } from "./slot.js";

const NOTHING: Done = { undo: [], elsewhere: [] };

const nativeThen = Promise.prototype.then;

/** Looking at what a method returned may throw: it may be anything. */
function isThenable(result: unknown): result is PromiseLike<unknown> {
  return (
    typeof result === "object" &&
    result !== null &&
    typeof (result as PromiseLike<unknown>).then === "function"
  );
}

function copyArguments(args: unknown[], slot: Slot, method: Method): void {
  copyAll(args, () => rules.argumentsOf(slot, method));
}

function copyResult(value: unknown, slot: Slot, method: Method): unknown {
  return copy(value, () => rules.resultOf(slot, method));
}

/**
 * One method of an event while it runs: what `this.event` is, how calls below are made, and what to undo if it
 * fails. Frames form a tree; the first one is the event's own method.
 */
export class Frame implements Activation {
  effects: Effects | null = null;
  #entry: Entry | null = null;
  /** The state of the context when this method began. */
  #before: State | null = null;
  #below: CallsBelow | null = null;
  #asked = 0;
  #running = false;
  #doom: HeadwaterError | null = null;

  constructor(
    readonly execution: Execution,
    readonly parent: Frame | null,
    readonly slot: Slot,
    readonly method: Method,
    readonly args: unknown[],
    /** What its caller waits for; null for the event's own method. */
    readonly answer: Call | null,
    /** Set for a call that came from another host. */
    readonly guest: Guest | null,
  ) {}

  /** Runs the method; the core has let the event in. */
  run(): void {
    const { slot, execution } = this;
    this.#running = true;
    let result: unknown;
    try {
      this.#entry = execution.entryOf(slot);
      this.#before = this.#entry.state;
      const context = this.#entry.activate(this);
      if (this.parent === null && this.guest === null && execution.isVoid(this.#entry))
        return this.#end(true, undefined);
      result = this.#runIn(context);
      if (isThenable(result)) {
        this.#entry.tookTime();
        return this.#await(result);
      }
    } catch (error) {
      return this.#end(false, error);
    }
    this.#end(true, result);
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

  #await(result: PromiseLike<unknown>): void {
    const returned = (value: unknown) => this.#endLater(true, value);
    const threw = (error: unknown) => this.#endLater(false, error);
    if (result instanceof Watched) result.wait(returned, threw);
    else if (result.then === nativeThen) result.then(returned, threw);
    else new Promise((resolve) => resolve(result)).then(returned, threw); // it may call back at once, or twice
  }

  #endLater(returned: boolean, value: unknown): void {
    try {
      this.#end(returned, value);
    } catch (error) {
      this.execution.node.broken(error);
    }
  }

  #end(returned: boolean, value: unknown): void {
    const { execution, slot, method } = this;
    if (execution.isDead) return;
    if (this.#below !== null) {
      const open = this.#below.open();
      if (open !== null) return whenOver(open, () => this.#endLater(returned, value));
      this.#doom = this.#below.doomOf(slot, method);
    }
    this.#running = false;
    const entry = this.#entry;
    if (!returned || entry === null || this.#doom !== null) return this.#fail(value);
    let state: State;
    let result: unknown;
    try {
      state = entry.current();
      this.#checkChanges(entry, state);
      result = isSimple(value) ? value : copyResult(value, slot, method);
    } catch (error) {
      return this.#fail(error);
    }
    entry.keep(state);
    if (this.parent !== null) {
      const among = this.parent.#below;
      if (state !== this.#before) among?.undo.push({ entry, state: this.#before as State });
      if (this.#below !== null) among?.changedAlso(this.#below);
    }
    this.#leave(true, result);
  }

  #fail(error: unknown): void {
    const undone = this.#undone();
    this.effects?.clear();
    const leave = () =>
      this.#leave(false, this.#doom ?? copyThrown(explained(error, this.slot, this.method)));
    if (this.parent === null && this.guest === null) return leave(); // the whole event is undone
    this.execution.takeBack(undone, () => {
      if (this.#elsewhere.length === 0) return leave();
      this.execution.node.takeBackElsewhere(this.execution.event, this.#elsewhere, leave);
    });
  }

  #done(): Done {
    return { undo: this.#undone(), elsewhere: this.#elsewhere };
  }

  #undone(): readonly Undo[] {
    const below = this.#below?.undo ?? [];
    return this.#entry === null ? below : [{ entry: this.#entry, state: this.#before as State }, ...below];
  }

  get #elsewhere(): readonly number[] {
    return this.#below?.elsewhere ?? [];
  }

  /** A call ran on another host, and this is what became of it there. */
  returned({ call, ok, value, doom, effects }: Returned): void {
    this.#doom = doom;
    if (ok) {
      for (const effect of effects) this.effects?.push(effect);
      if (this.parent !== null) this.parent.#below?.elsewhere.push(call);
    }
    this.#leave(ok, value);
  }

  /** The call cannot go ahead. */
  refuse(error: HeadwaterError): void {
    this.#leave(false, error);
  }

  #leave(ok: boolean, value: unknown): void {
    const { parent, answer, guest } = this;
    if (guest !== null) return guest.leave(this, ok, value, this.#doom, ok ? this.#done() : NOTHING);
    if (parent === null || answer === null) return this.execution.end(this, ok, value);
    answer.doom = this.#doom;
    parent.#below?.ended(this);
    answer.end(ok, value);
  }

  #checkChanges(entry: Entry, state: State): void {
    const { slot, method } = this;
    if (method.readonly && state !== this.#before) {
      const changed = changedFields(slot, this.#before as State, state);
      if (changed.length > 0) this.#doom = rules.readonlyChanged(slot, method, changed);
    }
    if (entry.released && state !== entry.state) {
      this.#doom ??= rules.writeAfterDowngrade(slot, changedFields(slot, entry.state, state));
    }
    if (this.#doom !== null) throw this.#doom;
  }

  call(target: Address, method: Method, args: unknown[]): Promise<unknown> {
    const slot = target as Slot;
    this.#asked += 1;
    const call = new Call(slot, method, this.#asked);
    if (this.execution.wasTakenBack) return call; // its code stops here
    this.#below ??= new CallsBelow();
    this.#below.add(call);
    try {
      if (!this.#running) this.#checkRunning(`${target}.${method.name}(…)`);
      this.#checkCall(slot, method);
      if (!args.every(isSimple)) copyArguments(args, slot, method);
      const frame = new Frame(this.execution, this, slot, method, args, call, null);
      this.effects ??= new Effects();
      frame.effects = new Effects();
      this.effects.push(frame.effects);
      this.#below.enqueue(frame);
    } catch (error) {
      call.end(false, error);
    }
    return call;
  }

  #checkCall(slot: Slot, method: Method): void {
    if (!slot.isBelow(this.slot)) {
      if (slot === this.slot) throw rules.callSelf(slot, method);
      if (this.slot.isBelow(slot)) throw rules.callUp(this.slot, slot, method);
      throw rules.callSideways(this.slot, slot, method);
    }
    if (this.execution.request.method.readonly && !method.readonly)
      throw rules.readonlyCallsWriter(slot, method);
  }

  downgrade(): void {
    if (this.execution.wasTakenBack) return;
    this.execution.downgrade(this.slot, this.#entry as Entry);
  }

  get time(): number {
    return this.execution.event.time;
  }

  get caller(): string | undefined {
    return this.execution.request.caller;
  }

  start<T>(target: Target<T>): Later<T> {
    const slot = Reference.addressOf(target) as Slot;
    if (slot.node !== this.slot.node) throw rules.wrongNodeStart(slot);
    return this.#later(slot, (method, args) => ({ kind: "start", slot, method, args }));
  }

  send<T>(target: Target<T>): Later<T>;
  send(client: string, message: unknown): void;
  send<T>(to: Target<T> | string, message?: unknown): Later<T> | undefined {
    if (typeof to === "string") {
      this.#push({ kind: "tell", client: to, message: copy(message, () => rules.messageTo(to)) });
      return undefined;
    }
    const slot = Reference.addressOf(to) as Slot;
    if (slot.node === this.slot.node) throw rules.wrongNodeSend(slot);
    return this.#later(slot, (method, args) => ({ kind: "send", slot, method, args }));
  }

  #later<T>(slot: Slot, effect: (method: Method, args: unknown[]) => Effect): Later<T> {
    const scope = {
      [INVOKE]: (_: Address, method: Method, args: unknown[]) => {
        declaredReads(slot, method); // refuses here what would fail when the event is to begin
        this.#push(
          effect(
            method,
            copyAll(args, () => rules.argumentsOf(slot, method)),
          ),
        );
      },
    };
    return reference(scope, slot) as unknown as Later<T>;
  }

  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId {
    const { slot } = this;
    this.#asked += 1;
    const id = timerId(slot, this.execution.event.ticket, this.positions(this.#asked));
    const found = [...slot.shape.methods.values()].find(({ body }) => body === (method as unknown));
    if (found === undefined) throw rules.badTimer(slot, rules.noTimer.method);
    this.#checkTimers();
    if (!rules.isDelay(ms)) throw rules.badTimer(slot, rules.noTimer.delay(ms));
    declaredReads(slot, found);
    const copies = copyAll(args, () => rules.argumentsOf(slot, found));
    const due = dueAfter(this.execution.event.steadyMs, ms);
    this.#push({ kind: "timer", id, due, slot, method: found, args: copies });
    this.#entry?.arm(id, due);
    return id;
  }

  cancel(timer: TimerId): void {
    if (!isTimerOf(this.slot, timer)) throw rules.badTimer(this.slot, rules.noTimer.notItsOwn(timer));
    this.#checkTimers();
    this.#push({ kind: "cancel", id: timer, due: this.#entry?.cancel(timer) ?? null });
  }

  outside<I, R>(work: Outside<I, R>, input: I, then?: (result: OutsideResult<R>) => unknown): void {
    const { slot } = this;
    if (!(work instanceof Outside)) throw rules.badOutsideCall(slot, rules.noOutsideCall.declared);
    const methods = [...slot.shape.methods.values()];
    const method = then === undefined ? null : methods.find(({ body }) => body === (then as unknown));
    if (method === undefined) throw rules.badOutsideCall(slot, rules.noOutsideCall.method);
    if (method !== null) declaredReads(slot, method);
    const copied = copy(input, () => rules.inputOf(slot, work.name));
    this.#push({ kind: "outside", outside: work as Outside<never, unknown>, input: copied, slot, method });
  }

  /** Timers are part of a context's state. */
  #checkTimers(): void {
    const { slot, method } = this;
    if (slot.shape.anonymous) throw rules.badTimer(slot, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(slot, rules.noTimer.readonly(method));
    if (this.#entry?.released) throw rules.badTimer(slot, rules.noTimer.givenUp);
  }

  read<T extends Context<Key>>(cls: ContextClass<T>): View<T> {
    const above = addressAbove(this.slot, cls as unknown as ContextClass) as Slot;
    const state = this.execution.stateSeen(above);
    if (state === undefined) throw rules.undeclaredRead(this.slot, this.execution.request.method, cls.name);
    return viewOf(above, state) as View<T>;
  }

  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T> {
    const root = this.execution.node.peer(cls as unknown as ContextClass, name);
    return reference(
      { [INVOKE]: (target, method, args) => this.call(target, method, args) },
      root,
    ) as unknown as Elsewhere<T>;
  }

  /** Where something that the method asks for stands among all that the event asks for. */
  positions(last: number): number[] {
    const positions = [last];
    let at: Frame = this;
    for (; at.parent !== null; at = at.parent) positions.push(at.answer?.position ?? 0);
    positions.reverse();
    return at.guest === null ? positions : [...at.guest.positions, ...positions];
  }

  #push(effect: Effect): void {
    if (this.execution.wasTakenBack) return;
    this.#checkRunning("this.event");
    this.execution.countEffect(this.slot);
    this.effects ??= new Effects();
    this.effects.push(effect);
  }

  #checkRunning(what: string): void {
    if (this.#running) return;
    throw new HeadwaterError(
      "HW-1008",
      `${what} was used after ${this.slot}.${this.method.name} had ended. Keep no \`this.event\` for later.`,
    );
  }
}
