import type { Address } from "../../model/address.js";
import { checkDeleted, listed, type Page, type PageOptions } from "../../model/below.js";
import { type Context, type ContextClass, declaredReads } from "../../model/context.js";
import { Current, isAtOrAbove } from "../../model/current.js";
import type { CurrentEvent, Sender, TimerId } from "../../model/event.js";
import type { Key } from "../../model/key.js";
import { Outside, type OutsideResult } from "../../model/outside.js";
import { isTimerOf, timerId } from "../../model/path.js";
import {
  type Answered,
  type Children,
  type Elsewhere,
  INVOKE,
  type InvocationScope,
  type Later,
  Reference,
  reference,
  type Target,
  type Timed,
  type View,
} from "../../model/refs.js";
import * as rules from "../../model/rules.js";
import { type Method, methodMeant } from "../../model/shape.js";
import { copy, copyAll } from "../../state/values.js";
import type { Slot } from "../context/index.js";
import { DELETE, LIST } from "./builtins.js";
import { readAbove } from "./callers.js";
import { dueAfter } from "./due.js";
import type { Execution } from "./execution.js";
import type { Frame } from "./frame.js";

type AnyMethod = (...args: never[]) => unknown;

/** What a method knows of its event, and what it asks for that is to happen when the event has committed. */
export class Asking extends Current implements CurrentEvent {
  readonly execution: Execution;
  readonly slot: Slot;
  readonly method: Method;

  constructor(readonly frame: Frame) {
    super();
    this.execution = frame.execution;
    this.slot = frame.slot;
    this.method = frame.method;
  }

  protected override get here(): Slot {
    return this.slot;
  }

  get time(): number {
    return this.execution.event.time;
  }

  get ticket(): number {
    return this.execution.event.ticket;
  }

  get caller(): string | undefined {
    return this.execution.request.caller;
  }

  get sender(): Sender | undefined {
    const { origin } = this.execution.request;
    if (origin.kind !== "message") return undefined;
    return { node: origin.from, address: origin.sender ?? origin.from };
  }

  start<T>(target: Target<T>): Later<T> {
    const slot = Reference.addressOf(target) as Slot;
    if (slot.node !== this.slot.node) throw rules.wrongNodeStart(slot);
    return this.#later(slot, (method, args) => this.frame.push({ kind: "start", slot, method, args }));
  }

  send<T>(target: Target<T>): Later<T>;
  send(client: string, message: unknown): void;
  send<T>(to: Target<T> | string, message?: unknown): Later<T> | undefined {
    if (typeof to === "string") {
      this.frame.push({ kind: "tell", client: to, message: copy(message, () => rules.messageTo(to)) });
      return undefined;
    }
    const slot = Reference.addressOf(to) as Slot;
    if (slot.node === this.slot.node) throw rules.wrongNodeSend(slot);
    const sender = this.address;
    return this.#later(slot, (method, args) => this.frame.push({ kind: "send", slot, method, args, sender }));
  }

  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId;
  after<T>(ms: number, target: Target<T>): Timed<T>;
  after(ms: number, what: unknown, ...args: unknown[]): unknown {
    if (!(what instanceof Reference))
      return this.#arm(ms, this.slot, methodMeant(this.slot.shape, what), args);
    const arm = (at: Address, method: Method, given: unknown[]) => this.#arm(ms, at as Slot, method, given);
    return reference({ [INVOKE]: arm }, Reference.addressOf(what));
  }

  #arm(ms: number, at: Slot, method: Method | undefined, args: unknown[]): TimerId {
    const { slot } = this;
    const id = timerId(slot, this.ticket, this.frame.nextPosition());
    if (method === undefined) throw rules.badTimer(slot, rules.noTimer.method);
    if (!isAtOrAbove(at, slot)) throw rules.badTimer(slot, rules.noTimer.target(at));
    this.#checkTimers();
    if (!rules.isDelay(ms)) throw rules.badTimer(slot, rules.noTimer.delay(ms));
    declaredReads(at, method);
    const copies = copyAll(args, () => rules.argumentsOf(at, method));
    const due = dueAfter(this.execution.event.steadyMs, ms);
    this.frame.push({ kind: "timer", id, owner: slot, due, slot: at, method, args: copies });
    this.frame.entry?.arm(id, due);
    return id;
  }

  cancel(timer: TimerId): void {
    if (!isTimerOf(this.slot, timer)) throw rules.badTimer(this.slot, rules.noTimer.notItsOwn(timer));
    this.#checkTimers();
    this.frame.push({ kind: "cancel", id: timer, due: this.frame.entry?.cancel(timer) ?? null });
  }

  outside<I, R, A extends unknown[]>(
    work: Outside<I, R>,
    input: I,
    then?: (result: OutsideResult<R>, ...args: A) => unknown,
    ...args: A
  ): void;
  outside<I, R, T>(work: Outside<I, R>, input: I, target: Target<T>): Answered<T, R>;
  outside<I, R>(
    work: Outside<I, R>,
    input: I,
    then?: AnyMethod | Target<unknown>,
    ...args: unknown[]
  ): unknown {
    const { slot } = this;
    if (!(work instanceof Outside)) throw rules.badOutsideCall(slot, rules.noOutsideCall.declared);
    const copied = copy(input, () => rules.inputOf(slot, work.name));
    const outside = work as Outside<never, unknown>;
    const push = (at: Slot, method: Method | null, given: unknown[]) =>
      this.frame.push({ kind: "outside", outside, input: copied, slot: at, method, args: given });
    if (then === undefined) return push(slot, null, []);
    if (then instanceof Reference) {
      const at = Reference.addressOf(then) as Slot;
      if (!isAtOrAbove(at, slot)) throw rules.badOutsideCall(slot, rules.noOutsideCall.target(at));
      return this.#later(at, (method, given) => push(at, method, given));
    }
    const method = methodMeant(slot.shape, then);
    if (method === undefined) throw rules.badOutsideCall(slot, rules.noOutsideCall.method);
    declaredReads(slot, method);
    return push(
      slot,
      method,
      copyAll(args, () => rules.argumentsOf(slot, method)),
    );
  }

  list<C extends Context<Key>>(
    children: Children<C>,
    options: PageOptions<C["key"]> = {},
  ): Promise<Page<C["key"]>> {
    const prepare = () => {
      if (this.frame.entry?.released) throw rules.badList(this.slot, rules.noList.givenUp);
      return [...listed(this.slot, children, options)];
    };
    return this.frame.askWhole(this.slot, LIST, prepare) as Promise<Page<C["key"]>>;
  }

  delete(target: Target<unknown>): Promise<void> {
    const slot = Reference.addressOf(target);
    const prepare = () => {
      checkDeleted(this.slot, slot, this.execution.request.method.readonly);
      return [];
    };
    return this.frame.askWhole(slot, DELETE, prepare) as Promise<void>;
  }

  /** A reference whose methods only note down what is to happen later. */
  #later<T>(slot: Slot, note: (method: Method, args: unknown[]) => void): Later<T> {
    const scope = {
      [INVOKE]: (at: Address, method: Method, args: unknown[]) => {
        declaredReads(at, method); // refuses here what would fail when the event is to begin
        note(
          method,
          copyAll(args, () => rules.argumentsOf(at, method)),
        );
      },
    };
    return reference(scope, slot) as unknown as Later<T>;
  }

  read<T extends Context<Key>>(cls: ContextClass<T>): View<T> {
    return readAbove(this.frame, cls);
  }

  /** Timers are part of a context's state. */
  #checkTimers(): void {
    const { slot, method } = this;
    if (slot.shape.anonymous) throw rules.badTimer(slot, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(slot, rules.noTimer.readonly(method));
    if (this.frame.entry?.released) throw rules.badTimer(slot, rules.noTimer.givenUp);
  }

  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T> {
    const root = this.execution.node.peer(cls as unknown as ContextClass, name);
    return reference(this.scope, root) as unknown as Elsewhere<T>;
  }

  protected override get scope(): InvocationScope {
    return { [INVOKE]: (target, method, args) => this.frame.call(target, method, args) };
  }
}
