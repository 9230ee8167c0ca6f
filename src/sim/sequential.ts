import { type HeadwaterError, invariant } from "../errors.js";
import type { Address } from "../model/address.js";
import { type Activation, addressAbove, Context, type ContextClass } from "../model/context.js";
import type { TimerId } from "../model/event.js";
import type { Key } from "../model/key.js";
import { isTimerOf, pathOf, resolvePath, timerId } from "../model/path.js";
import type { Elsewhere, Later, Target, View } from "../model/refs.js";
import { INVOKE, noSuchMethod, Reference, reference } from "../model/refs.js";
import * as rules from "../model/rules.js";
import { isKindOf, type Method } from "../model/shape.js";
import { copy, copyAll, copyThrown } from "../state/values.js";
import { failureOf, type LaterEffect, type LoggedEvent, type Outcome } from "./log.js";
import { Place, type State } from "./sequential-place.js";

/**
 * The oracle: runs the events of a program one at a time, to the end, on one thread. It does the obvious thing
 * everywhere (one live instance per context, a copy of its fields whenever a method ends, the copies put back
 * when a call or an event fails) and shares nothing with the runtime but the model and the copying of values.
 */

export interface SequentialEvent
  extends Pick<LoggedEvent, "node" | "ticket" | "path" | "method" | "args" | "time" | "caller"> {
  /** The timer that begins this event, if one does. */
  timer?: TimerId | undefined;
}

/** What all methods of one event share. */
class Event {
  /** The contexts that it has entered, each with the state that it found. */
  readonly entered = new Map<Place, State>();
  readonly givenUp = new Set<Place>();
  /** Calls that nobody waited for: the event has failed, but their code still runs. */
  readonly leftOver: Promise<unknown>[] = [];

  constructor(
    readonly facts: SequentialEvent,
    readonly target: Place,
    readonly method: Method,
    readonly roots: ReadonlyMap<string, Place>,
  ) {}
}

/** One method of one event: the first, or a call below. */
class Frame implements Activation {
  readonly time: number;
  readonly caller: string | undefined;
  /** Its calls and its effects, in the order of the program text. */
  #items: (Frame | LaterEffect)[] = [];
  /** Calls and timers asked for so far, the refused ones included. */
  #asked = 0;
  #before: State | null = null;
  #givenUpAs: State | null = null;
  #done: Promise<unknown> = Promise.resolve();
  #awaited = false;
  #ended = false;
  /** A broken rule that no caller can catch. The first in the order of the program text counts. */
  #doom: HeadwaterError | null = null;

  constructor(
    readonly of: Event,
    readonly place: Place,
    readonly method: Method,
    readonly parent: Frame | null,
    readonly number: number,
  ) {
    this.time = of.facts.time;
    this.caller = of.facts.caller;
  }

  call(target: Address, method: Method, args: unknown[]): Promise<unknown> {
    this.#asked += 1;
    const below = new Frame(this.of, target as Place, method, this, this.#asked);
    const earlier = this.#items.filter(
      (item) => item instanceof Frame && item.#isInTheWayOf(below),
    ) as Frame[];
    this.#items.push(below);
    below.#done = below.run(args, earlier);
    below.#done.catch(() => {});
    return below.#awaitable();
  }

  /** An object with a `then` of its own, which shows whether anybody waits for the call. */
  #awaitable(): Promise<unknown> {
    const then: Promise<unknown>["then"] = (fulfilled, rejected) => {
      this.#awaited = true;
      return this.#done.then(fulfilled, rejected);
    };
    const rest = { catch: (rejected: () => never) => then(null, rejected), [Symbol.toStringTag]: "Promise" };
    return { then, finally: (after) => then().finally(after), ...rest } as Promise<unknown>;
  }

  #isInTheWayOf({ place }: Frame): boolean {
    return !this.#ended && (this.place === place || this.place.isBelow(place) || place.isBelow(this.place));
  }

  async run(args: unknown[], earlier: readonly Frame[]): Promise<unknown> {
    try {
      this.#admit();
      const given = copyAll([...args], () => rules.argumentsOf(this.place, this.method));
      for (const frame of earlier) await frame.#done.catch(() => {});
      if (this.of.givenUp.has(this.place)) throw rules.reacquire(this.place, this.method);
      return await this.#perform(given);
    } catch (thrown) {
      this.#undo();
      throw this.#doom ?? copyThrown(thrown);
    } finally {
      this.#ended = true;
    }
  }

  #admit(): void {
    const { place, method, parent } = this;
    if (parent !== null && !place.isBelow(parent.place)) {
      if (place === parent.place) throw rules.callSelf(place, method);
      const rule = parent.place.isBelow(place) ? rules.callUp : rules.callSideways;
      throw rule(parent.place, place, method);
    }
    if (this.of.method.readonly && !method.readonly) throw rules.readonlyCallsWriter(place, method);
  }

  async #perform(args: unknown[]): Promise<unknown> {
    const { place, method, of } = this;
    const { instance } = place;
    this.#before = place.state;
    if (!of.entered.has(place)) of.entered.set(place, place.state);
    Context.activate(instance, this);
    let result: unknown;
    try {
      result = await method.body.apply(instance, args);
    } finally {
      Context.activate(instance, null);
      this.#lookAtCalls();
    }
    this.#keep(this.#before);
    if (this.#doom !== null) throw this.#doom;
    return copy(result, () => rules.resultOf(place, method));
  }

  #lookAtCalls(): void {
    for (const item of this.#items) {
      if (!(item instanceof Frame)) continue;
      if (!item.#ended) this.of.leftOver.push(item.#done);
      if (item.#awaited && item.#ended) this.#doom ??= item.#doom;
      else this.#doom ??= rules.unawaited(this.place, this.method, item.place, item.method);
    }
  }

  #keep(before: State): void {
    const { place, method } = this;
    const after = place.now();
    const changed = method.readonly ? place.changed(before, after) : [];
    if (changed.length > 0) this.#doom ??= rules.readonlyChanged(place, method, changed);
    const late = this.#givenUpAs === null ? [] : place.changed(this.#givenUpAs, after);
    if (late.length > 0) this.#doom ??= rules.writeAfterDowngrade(place, late);
    place.state = after;
  }

  /** Takes back what this method and its calls did. What was given up stays given up: others may be in it. */
  #undo(): void {
    for (const item of this.#items.reverse()) if (item instanceof Frame) item.#undo();
    this.#items = [];
    if (this.#before !== null) this.place.putBack(this.#before);
  }

  downgrade(): void {
    const { place, of } = this;
    if (place.shape.anonymous || of.givenUp.has(place)) return;
    if (of.method.readonly) throw rules.readonlyDowngrade(place);
    for (let at = place.parent as Place | null; at !== null; at = at.parent as Place | null) {
      if (of.entered.has(at) && !of.givenUp.has(at)) throw rules.downgradeBelowHeld(place, at);
    }
    this.#givenUpAs = place.now();
    of.givenUp.add(place);
  }

  later(): LaterEffect[] {
    return this.#items.flatMap((item) => (item instanceof Frame ? item.later() : item));
  }

  /** A reference whose methods only note down what is to happen later. */
  #note<T>(target: Address, effect: (method: string, args: unknown[]) => LaterEffect): Later<T> {
    const note = (at: Address, method: Method, args: unknown[]) => {
      this.#items.push(
        effect(
          method.name,
          copyAll(args, () => rules.argumentsOf(at, method)),
        ),
      );
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
      return void this.#items.push({ kind: "tell", client: target, message: copied });
    }
    const at = Reference.addressOf(target);
    if (at.node === this.place.node) throw rules.wrongNodeSend(at);
    return this.#note(at, (method, args) => ({
      kind: "send",
      node: at.node,
      path: pathOf(at),
      method,
      args,
    }));
  }

  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId {
    this.#asked += 1;
    const { place } = this;
    const found = [...place.shape.methods.values()].find(({ body }) => body === (method as unknown));
    if (found === undefined) throw rules.badTimer(place, rules.noTimer.method);
    this.#checkTimers();
    if (!(ms >= 0 && ms < Infinity)) throw rules.badTimer(place, rules.noTimer.delay(ms));
    const position = [this.#asked];
    for (let at: Frame = this; at.parent !== null; at = at.parent) position.unshift(at.number);
    const id = timerId(place, this.of.facts.ticket, position);
    const copied = copyAll(args, () => rules.argumentsOf(place, found));
    this.#items.push({ kind: "timer", id, path: pathOf(place), method: found.name, args: copied, ms });
    return id;
  }

  cancel(timer: TimerId): void {
    if (!isTimerOf(this.place, timer)) throw rules.badTimer(this.place, rules.noTimer.notItsOwn(timer));
    this.#checkTimers();
    this.#items.push({ kind: "cancel", timer });
  }

  #checkTimers(): void {
    const { place, method, of } = this;
    if (place.shape.anonymous) throw rules.badTimer(place, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(place, rules.noTimer.readonly(method));
    if (of.givenUp.has(place)) throw rules.badTimer(place, rules.noTimer.givenUp);
  }

  read<T extends Context<Key>>(cls: ContextClass<T>): View<T> {
    const at = addressAbove(this.place, cls as unknown as ContextClass) as Place;
    const { target, method, entered } = this.of;
    const isDeclared =
      target.isBelow(at) && method.reads.some((declared) => addressAbove(target, declared) === at);
    if (!entered.has(at) && !isDeclared) {
      throw rules.undeclaredRead(this.place, method, cls.name);
    }
    return at.view(at.now()) as View<T>;
  }

  peer<T extends Context<Key>>(cls: ContextClass<T>, name?: string): Elsewhere<T> {
    const roots = [...this.of.roots.values()].filter((root) =>
      isKindOf(root.shape.cls, cls as unknown as ContextClass),
    );
    const [root, another] = name === undefined ? roots : roots.filter(({ node }) => node === name);
    if (root === undefined || another !== undefined)
      throw rules.noSuchPeer(cls, name, [...this.of.roots.keys()]);
    return reference(this.place.instance, root) as unknown as Elsewhere<T>;
  }
}

/** A program whose logical nodes run one event at a time. */
export class SequentialProgram {
  readonly #roots = new Map<string, Place>();
  readonly #armed = new Set<TimerId>();

  constructor(roots: Readonly<Record<string, ContextClass>>) {
    for (const [node, cls] of Object.entries(roots)) {
      this.#roots.set(node, new Place(node, null, null, undefined, cls));
    }
  }

  async run(facts: SequentialEvent): Promise<Outcome> {
    const target = resolvePath(this.#root(facts.node), facts.path);
    const method = target.shape.methods.get(facts.method);
    if (method === undefined) throw noSuchMethod(target.shape, facts.method, String(target));
    const wasCancelled = facts.timer !== undefined && !this.#armed.delete(facts.timer);
    if (wasCancelled) return { ok: true, value: undefined, later: [] };
    const event = new Event(facts, target, method, this.#roots);
    const frame = new Frame(event, target, method, null, 0);
    try {
      const value = await frame.run(facts.args, []);
      return { ok: true, value, later: this.#commit(frame.later()) };
    } catch (thrown) {
      for (const call of event.leftOver) await call.catch(() => {});
      for (const [place, state] of event.entered) place.putBack(state);
      return { ok: false, error: failureOf(thrown), later: [] };
    }
  }

  #commit(later: LaterEffect[]): LaterEffect[] {
    for (const effect of later) {
      if (effect.kind === "timer") this.#armed.add(effect.id);
      else if (effect.kind === "cancel") this.#armed.delete(effect.timer);
    }
    return later;
  }

  /** The fields of each context that differs from its initial state, under its address's text. */
  states(node: string): Map<string, object> {
    const changed = [...this.#root(node).changedContexts()];
    return new Map(changed.map((place) => [String(place), place.view(place.state)]));
  }

  #root(node: string): Place {
    const root = this.#roots.get(node);
    invariant(root !== undefined, `there is no logical node ${node}`);
    return root;
  }
}
