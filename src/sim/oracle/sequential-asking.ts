import type { Address } from "../../model/address.js";
import { type Context, type ContextClass, declaredReads } from "../../model/context.js";
import { Current, isAtOrAbove, rootNamed } from "../../model/current.js";
import type { Sender, TimerId } from "../../model/event.js";
import type { Key } from "../../model/key.js";
import type { Outside, OutsideResult } from "../../model/outside.js";
import { isTimerOf, pathOf, timerId } from "../../model/path.js";
import {
  type Answered,
  type Elsewhere,
  INVOKE,
  type InvocationScope,
  type Later,
  Reference,
  reference,
  type Target,
  type Timed,
} from "../../model/refs.js";
import * as rules from "../../model/rules.js";
import { type Method, methodMeant } from "../../model/shape.js";
import { copy, copyAll } from "../../state/values.js";
import type { LaterEffect } from "./log.js";
import type { SequentialContext } from "./sequential-context.js";
import type { Event } from "./sequential-event.js";

type AnyMethod = (...args: never[]) => unknown;

/** What a method of the sequential runner knows of its event, and what it asks for that is to happen later. */
export abstract class SequentialAsking extends Current {
  constructor(
    readonly of: Event,
    readonly place: SequentialContext,
    readonly method: Method,
  ) {
    super();
  }

  /** Where what is asked for now stands among all that the event asks for. */
  protected abstract nextPosition(): number[];
  protected abstract ask(effect: LaterEffect): void;

  protected override get here(): SequentialContext {
    return this.place;
  }

  protected override get scope(): InvocationScope {
    return this.place.instance;
  }

  /** Has the event given up the context that the method runs in? */
  protected get isGivenUp(): boolean {
    return this.of.in(this.place)?.givenUp ?? false;
  }

  get time(): number {
    return this.of.facts.time;
  }

  get ticket(): number {
    return this.of.facts.ticket;
  }

  get caller(): string | undefined {
    return this.of.facts.caller;
  }

  get sender(): Sender | undefined {
    return this.of.facts.sender;
  }

  /** A reference whose methods only note down what is to happen later. */
  #note<T>(target: Address, note: (method: string, args: unknown[]) => void): Later<T> {
    const invoke = (at: Address, method: Method, args: unknown[]) => {
      declaredReads(at, method);
      const copied = copyAll(args, () => rules.argumentsOf(at, method));
      note(method.name, copied);
    };
    return reference({ [INVOKE]: invoke }, target) as unknown as Later<T>;
  }

  start<T>(target: Target<T>): Later<T> {
    const at = Reference.addressOf(target);
    if (at.node !== this.place.node) throw rules.wrongNodeStart(at);
    return this.#note(at, (method, args) => this.ask({ kind: "start", path: pathOf(at), method, args }));
  }

  send<T>(target: Target<T>): Later<T>;
  send(client: string, message: unknown): void;
  send(target: unknown, message?: unknown): unknown {
    if (typeof target === "string") {
      const copied = copy(message, () => rules.messageTo(target));
      return this.ask({ kind: "tell", client: target, message: copied });
    }
    const at = Reference.addressOf(target);
    if (at.node === this.place.node) throw rules.wrongNodeSend(at);
    const [path, { node }, sender] = [pathOf(at), at, String(this.place)];
    return this.#note(at, (method, args) => this.ask({ kind: "send", node, path, method, args, sender }));
  }

  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId;
  after<T>(ms: number, target: Target<T>): Timed<T>;
  after(ms: number, what: unknown, ...args: unknown[]): unknown {
    if (!(what instanceof Reference))
      return this.#arm(ms, this.place, methodMeant(this.place.shape, what), args);
    const arm = (at: Address, method: Method, given: unknown[]) => this.#arm(ms, at, method, given);
    return reference({ [INVOKE]: arm }, Reference.addressOf(what));
  }

  #arm(ms: number, at: Address, found: Method | undefined, args: unknown[]): TimerId {
    const { place } = this;
    const id = timerId(place, this.ticket, this.nextPosition());
    if (found === undefined) throw rules.badTimer(place, rules.noTimer.method);
    if (!isAtOrAbove(at, place)) throw rules.badTimer(place, rules.noTimer.target(at));
    this.#checkTimers();
    if (!rules.isDelay(ms)) throw rules.badTimer(place, rules.noTimer.delay(ms));
    declaredReads(at, found);
    const copied = copyAll(args, () => rules.argumentsOf(at, found));
    const [owner, path, method] = [pathOf(place), pathOf(at), found.name];
    this.ask({ kind: "timer", id, owner, path, method, args: copied, ms });
    place.arm(id);
    return id;
  }

  cancel(timer: TimerId): void {
    if (!isTimerOf(this.place, timer)) throw rules.badTimer(this.place, rules.noTimer.notItsOwn(timer));
    this.#checkTimers();
    this.ask({ kind: "cancel", timer });
    this.place.disarm(timer);
  }

  outside<I, R, A extends unknown[]>(
    work: Outside<I, R>,
    input: I,
    then?: (result: OutsideResult<R>, ...args: A) => unknown,
    ...args: A
  ): void;
  outside<I, R, T>(work: Outside<I, R>, input: I, target: Target<T>): Answered<T, R>;
  outside<I, R>(
    { name }: Outside<I, R>,
    input: I,
    then?: AnyMethod | Target<unknown>,
    ...args: unknown[]
  ): unknown {
    const { place } = this;
    const copied = copy(input, () => rules.inputOf(place, name));
    const ask = (at: Address, method: string | null, given: unknown[]) =>
      this.ask({ kind: "outside", name, input: copied, path: pathOf(at), method, args: given });
    if (then === undefined) return ask(place, null, []);
    if (then instanceof Reference) {
      const at = Reference.addressOf(then);
      if (!isAtOrAbove(at, place)) throw rules.badOutsideCall(place, rules.noOutsideCall.target(at));
      return this.#note(at, (method, given) => ask(at, method, given));
    }
    const found = methodMeant(place.shape, then);
    if (found === undefined) throw rules.badOutsideCall(place, rules.noOutsideCall.method);
    declaredReads(place, found);
    const copies = copyAll(args, () => rules.argumentsOf(place, found));
    return ask(place, found.name, copies);
  }

  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T> {
    const root = rootNamed(this.of.roots, cls as unknown as ContextClass, name);
    return reference(this.scope, root) as unknown as Elsewhere<T>;
  }

  #checkTimers(): void {
    const { place, method } = this;
    if (place.shape.anonymous) throw rules.badTimer(place, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(place, rules.noTimer.readonly(method));
    if (this.isGivenUp) throw rules.badTimer(place, rules.noTimer.givenUp);
  }
}
