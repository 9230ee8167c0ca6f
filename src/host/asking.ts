import type { Address } from "../model/address.js";
import { type Context, type ContextClass, declaredReads } from "../model/context.js";
import type { TimerId } from "../model/event.js";
import type { Key } from "../model/key.js";
import { Outside, type OutsideResult } from "../model/outside.js";
import { isTimerOf, timerId } from "../model/path.js";
import { type Elsewhere, INVOKE, type Later, Reference, reference, type Target } from "../model/refs.js";
import * as rules from "../model/rules.js";
import { type Method, methodMeant } from "../model/shape.js";
import { copy, copyAll } from "../state/values.js";
import { dueAfter } from "./due.js";
import type { Effect } from "./effects.js";
import type { Entry } from "./entry.js";
import type { Execution } from "./execution.js";
import type { Slot } from "./slot.js";

/** What a method may ask for that happens after its event: later events, messages, timers, outside calls. */
export abstract class Asking {
  abstract readonly execution: Execution;
  abstract readonly slot: Slot;
  abstract readonly method: Method;
  protected abstract readonly entry: Entry | null;

  abstract call(target: Address, method: Method, args: unknown[]): Promise<unknown>;
  protected abstract push(effect: Effect): void;
  /** Where the next thing that the method asks for stands among all that the event asks for. */
  protected abstract nextPositions(): number[];

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
      this.push({ kind: "tell", client: to, message: copy(message, () => rules.messageTo(to)) });
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
        this.push(
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
    const id = timerId(slot, this.execution.event.ticket, this.nextPositions());
    const found = methodMeant(slot.shape, method);
    if (found === undefined) throw rules.badTimer(slot, rules.noTimer.method);
    this.#checkTimers();
    if (!rules.isDelay(ms)) throw rules.badTimer(slot, rules.noTimer.delay(ms));
    declaredReads(slot, found);
    const copies = copyAll(args, () => rules.argumentsOf(slot, found));
    const due = dueAfter(this.execution.event.steadyMs, ms);
    this.push({ kind: "timer", id, due, slot, method: found, args: copies });
    this.entry?.arm(id, due);
    return id;
  }

  cancel(timer: TimerId): void {
    if (!isTimerOf(this.slot, timer)) throw rules.badTimer(this.slot, rules.noTimer.notItsOwn(timer));
    this.#checkTimers();
    this.push({ kind: "cancel", id: timer, due: this.entry?.cancel(timer) ?? null });
  }

  outside<I, R>(work: Outside<I, R>, input: I, then?: (result: OutsideResult<R>) => unknown): void {
    const { slot } = this;
    if (!(work instanceof Outside)) throw rules.badOutsideCall(slot, rules.noOutsideCall.declared);
    const method = then === undefined ? null : methodMeant(slot.shape, then);
    if (method === undefined) throw rules.badOutsideCall(slot, rules.noOutsideCall.method);
    if (method !== null) declaredReads(slot, method);
    const copied = copy(input, () => rules.inputOf(slot, work.name));
    this.push({ kind: "outside", outside: work as Outside<never, unknown>, input: copied, slot, method });
  }

  /** Timers are part of a context's state. */
  #checkTimers(): void {
    const { slot, method } = this;
    if (slot.shape.anonymous) throw rules.badTimer(slot, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(slot, rules.noTimer.readonly(method));
    if (this.entry?.released) throw rules.badTimer(slot, rules.noTimer.givenUp);
  }

  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T> {
    const root = this.execution.node.peer(cls as unknown as ContextClass, name);
    return reference(
      { [INVOKE]: (target, method, args) => this.call(target, method, args) },
      root,
    ) as unknown as Elsewhere<T>;
  }
}
