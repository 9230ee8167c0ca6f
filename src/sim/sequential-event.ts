import type { Address } from "../model/address.js";
import { type Context, type ContextClass, declaredReads } from "../model/context.js";
import type { TimerId } from "../model/event.js";
import type { Key } from "../model/key.js";
import type { Outside, OutsideResult } from "../model/outside.js";
import { isTimerOf, pathOf, timerId } from "../model/path.js";
import type { Elsewhere, Later, Target } from "../model/refs.js";
import { INVOKE, Reference, reference } from "../model/refs.js";
import * as rules from "../model/rules.js";
import { isKindOf, type Method, methodMeant } from "../model/shape.js";
import { copy, copyAll } from "../state/values.js";
import type { LaterEffect, LoggedEvent } from "./log.js";
import type { Place, State } from "./sequential-place.js";

export type SequentialEvent = Pick<
  LoggedEvent,
  "node" | "ticket" | "path" | "method" | "args" | "time" | "caller"
>;

/** A context in one event: the state that the event found there, and whether it has given it up since. */
interface Entered {
  readonly place: Place;
  readonly found: State;
  givenUp: boolean;
}

/** What all methods of one event share. */
export class Event {
  /** Few, in the order of entering. */
  readonly entered: Entered[] = [];
  /** Calls that nobody waited for: the event has failed, but their code, or what follows them, still runs. */
  readonly leftOver: (Promise<unknown> | null)[] = [];

  constructor(
    readonly facts: SequentialEvent,
    readonly target: Place,
    readonly method: Method,
    readonly roots: ReadonlyMap<string, Place>,
  ) {}

  in(place: Place): Entered | undefined {
    return this.entered.find((entered) => entered.place === place);
  }
}

/** The part of a method that asks for what happens after its event. */
export abstract class Asking {
  abstract readonly of: Event;
  abstract readonly place: Place;
  abstract readonly method: Method;

  protected abstract ask(effect: LaterEffect): void;
  /** Where the next thing that the method asks for stands among all that the event asks for. */
  protected abstract nextPosition(): number[];

  /** A reference whose methods only note down what is to happen later. */
  #note<T>(target: Address, effect: (method: string, args: unknown[]) => LaterEffect): Later<T> {
    const note = (at: Address, method: Method, args: unknown[]) => {
      declaredReads(at, method);
      const copied = copyAll(args, () => rules.argumentsOf(at, method));
      this.ask(effect(method.name, copied));
    };
    return reference({ [INVOKE]: note }, target) as unknown as Later<T>;
  }

  start<T>(target: Target<T>): Later<T> {
    const at = Reference.addressOf(target);
    if (at.node !== this.place.node) throw rules.wrongNodeStart(at);
    return this.#note(at, (method, args) => ({ kind: "start", path: pathOf(at), method, args }));
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
    const { node } = at;
    return this.#note(at, (method, args) => ({ kind: "send", node, path: pathOf(at), method, args }));
  }

  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId {
    const { place } = this;
    const position = this.nextPosition();
    const found = methodMeant(place.shape, method);
    if (found === undefined) throw rules.badTimer(place, rules.noTimer.method);
    this.#checkTimers();
    if (!rules.isDelay(ms)) throw rules.badTimer(place, rules.noTimer.delay(ms));
    declaredReads(place, found);
    const id = timerId(place, this.of.facts.ticket, position);
    const copied = copyAll(args, () => rules.argumentsOf(place, found));
    this.ask({ kind: "timer", id, path: pathOf(place), method: found.name, args: copied, ms });
    return id;
  }

  cancel(timer: TimerId): void {
    if (!isTimerOf(this.place, timer)) throw rules.badTimer(this.place, rules.noTimer.notItsOwn(timer));
    this.#checkTimers();
    this.ask({ kind: "cancel", timer });
  }

  outside<I, R>(work: Outside<I, R>, input: I, then?: (result: OutsideResult<R>) => unknown): void {
    const { place } = this;
    const found = methodMeant(place.shape, then);
    if (then !== undefined && found === undefined)
      throw rules.badOutsideCall(place, rules.noOutsideCall.method);
    if (found !== undefined) declaredReads(place, found);
    const copied = copy(input, () => rules.inputOf(place, work.name));
    const asked = { name: work.name, input: copied, path: pathOf(place), method: found?.name ?? null };
    this.ask({ kind: "outside", ...asked });
  }

  #checkTimers(): void {
    const { place, method, of } = this;
    if (place.shape.anonymous) throw rules.badTimer(place, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(place, rules.noTimer.readonly(method));
    if (of.in(place)?.givenUp) throw rules.badTimer(place, rules.noTimer.givenUp);
  }

  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T> {
    const { roots } = this.of;
    const ofClass = [...roots.values()].filter(({ shape }) =>
      isKindOf(shape.cls, cls as unknown as ContextClass),
    );
    const [root, another] = name === undefined ? ofClass : ofClass.filter(({ node }) => node === name);
    if (root === undefined || another !== undefined) throw rules.noSuchPeer(cls, name, [...roots.keys()]);
    return reference(this.place.instance, root) as unknown as Elsewhere<T>;
  }
}
