import { type HeadwaterError, invariant } from "../errors.js";
import type { Address } from "../model/address.js";
import {
  type Activation,
  addressAbove,
  Context,
  type ContextClass,
  declaredReads,
} from "../model/context.js";
import type { TimerId } from "../model/event.js";
import type { Key } from "../model/key.js";
import type { Outside, OutsideResult } from "../model/outside.js";
import { isTimerOf, pathOf, resolvePath, timerId } from "../model/path.js";
import type { Elsewhere, Later, Target, View } from "../model/refs.js";
import { INVOKE, noSuchMethod, Reference, reference } from "../model/refs.js";
import * as rules from "../model/rules.js";
import { explained } from "../model/sealed.js";
import { isKindOf, type Method } from "../model/shape.js";
import { Watched } from "../model/watched.js";
import { copy, copyAll, copyThrown, isSimple } from "../state/values.js";
import { failureOf, type LaterEffect, type LoggedEvent, type Outcome } from "./log.js";
import { Place, type State } from "./sequential-place.js";

/**
 * The oracle: runs the events of a program one at a time, to the end, on one thread. It does the obvious thing
 * everywhere (one live instance per context, a copy of its fields whenever a method ends, the copies put back
 * when a call or an event fails) and shares nothing with the runtime but the model and the copying of values.
 */

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
class Event {
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

/** How a method ended: with what it returned, or with what it threw. */
interface Ended {
  readonly ok: boolean;
  readonly value: unknown;
}

const NO_CALLS: readonly Frame[] = [];

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
  #done: Promise<unknown> | null = null;
  /** What its caller has of it. */
  readonly promise = new Watched();
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
    const earlier = this.#calls().filter((call) => call.#isInTheWayOf(below));
    this.#items.push(below);
    const { promise } = below;
    below.#done = Promise.resolve(below.run(args, earlier)).then(({ ok, value }) => promise.end(ok, value));
    return promise;
  }

  #calls(): readonly Frame[] {
    return this.#items.length === 0 ? NO_CALLS : this.#items.filter((item) => item instanceof Frame);
  }

  #isInTheWayOf({ place }: Frame): boolean {
    return !this.#ended && (this.place === place || this.place.isBelow(place) || place.isBelow(this.place));
  }

  /** Waits only where the program waits: most methods have ended when this returns. */
  run(args: unknown[], earlier: readonly Frame[]): Ended | Promise<Ended> {
    let given: unknown[];
    try {
      given = this.#admit(args);
    } catch (thrown) {
      return this.#failed(thrown);
    }
    if (earlier.length === 0) return this.#execute(given);
    return Promise.all(earlier.map((frame) => frame.#done)).then(() => this.#execute(given));
  }

  #execute(given: unknown[]): Ended | Promise<Ended> {
    let result: unknown;
    let takesTime: boolean;
    try {
      result = this.method.body.apply(this.#enter(), given);
      takesTime = typeof result === "object" && result !== null && "then" in result;
    } catch (thrown) {
      return this.#end({ ok: false, value: thrown });
    }
    if (!takesTime) return this.#end({ ok: true, value: result });
    return new Promise((resolve) => resolve(result)).then(
      (value) => this.#end({ ok: true, value }),
      (thrown: unknown) => this.#end({ ok: false, value: thrown }),
    );
  }

  /** The method's own code has come to its end; calls that it waits for may go on. */
  #end(own: Ended): Ended | Promise<Ended> {
    const open: Watched[] = [];
    for (const call of this.#calls()) call.promise.addOpen(open);
    if (open.length > 0) return Promise.allSettled(open).then(() => this.#end(own));
    if (this.#before !== null) Context.activate(this.place.instance, null);
    return this.#close(own);
  }

  #close({ ok, value }: Ended): Ended {
    this.#ended = true;
    this.#lookAtCalls();
    if (!ok) return this.#failed(value);
    try {
      return { ok, value: this.#leave(value) };
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  #failed(thrown: unknown): Ended {
    this.#undo();
    this.#ended = true;
    return { ok: false, value: this.#doom ?? copyThrown(explained(thrown, this.place, this.method)) };
  }

  #admit(args: unknown[]): unknown[] {
    const { place, method, parent } = this;
    if (parent !== null && !place.isBelow(parent.place)) {
      if (place === parent.place) throw rules.callSelf(place, method);
      const rule = parent.place.isBelow(place) ? rules.callUp : rules.callSideways;
      throw rule(parent.place, place, method);
    }
    if (this.of.method.readonly && !method.readonly) throw rules.readonlyCallsWriter(place, method);
    return args.every(isSimple) ? args : copyAll(args.slice(), () => rules.argumentsOf(place, method));
  }

  #enter(): Context<Key> {
    const { place, of } = this;
    const entered = of.in(place);
    if (entered?.givenUp) throw rules.reacquire(place, this.method);
    const { instance, state } = place;
    this.#before = state;
    if (entered === undefined) of.entered.push({ place, found: state, givenUp: false });
    Context.activate(instance, this);
    return instance;
  }

  #leave(result: unknown): unknown {
    const { place, method } = this;
    this.#keep(this.#before as State);
    if (this.#doom !== null) throw this.#doom;
    return copy(result, () => rules.resultOf(place, method));
  }

  #lookAtCalls(): void {
    for (const call of this.#calls()) {
      const isOver = call.#ended && !call.promise.isForgotten;
      if (!isOver) this.of.leftOver.push(call.#done);
      if (isOver) this.#doom ??= call.#doom;
      else this.#doom ??= rules.unawaited(this.place, this.method, call.place, call.method);
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
    for (const call of this.#calls().toReversed()) call.#undo();
    this.#items = [];
    if (this.#before !== null) this.place.putBack(this.#before);
  }

  downgrade(): void {
    const { place, of } = this;
    const entered = of.in(place);
    if (place.shape.anonymous || entered === undefined || entered.givenUp) return;
    if (of.method.readonly) throw rules.readonlyDowngrade(place);
    for (let above = place.parent as Place | null; above !== null; above = above.parent as Place | null) {
      if (of.in(above)?.givenUp === false) throw rules.downgradeBelowHeld(place, above);
    }
    this.#givenUpAs = place.now();
    entered.givenUp = true;
  }

  later(into: LaterEffect[] = []): LaterEffect[] {
    for (const item of this.#items) {
      if (item instanceof Frame) item.later(into);
      else into.push(item);
    }
    return into;
  }

  /** A reference whose methods only note down what is to happen later. */
  #note<T>(target: Address, effect: (method: string, args: unknown[]) => LaterEffect): Later<T> {
    const note = (at: Address, method: Method, args: unknown[]) => {
      declaredReads(at, method);
      const copied = copyAll(args, () => rules.argumentsOf(at, method));
      this.#items.push(effect(method.name, copied));
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
    const { node } = at;
    return this.#note(at, (method, args) => ({ kind: "send", node, path: pathOf(at), method, args }));
  }

  after<A extends unknown[]>(ms: number, method: (...args: A) => unknown, ...args: A): TimerId {
    this.#asked += 1;
    const { place } = this;
    const found = [...place.shape.methods.values()].find(({ body }) => body === (method as unknown));
    if (found === undefined) throw rules.badTimer(place, rules.noTimer.method);
    this.#checkTimers();
    if (!rules.isDelay(ms)) throw rules.badTimer(place, rules.noTimer.delay(ms));
    declaredReads(place, found);
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

  outside<I, R>(work: Outside<I, R>, input: I, then?: (result: OutsideResult<R>) => unknown): void {
    const { place } = this;
    const methods = [...place.shape.methods.values()];
    const found = methods.find(({ body }) => body === (then as unknown));
    if (then !== undefined && found === undefined)
      throw rules.badOutsideCall(place, rules.noOutsideCall.method);
    if (found !== undefined) declaredReads(place, found);
    const copied = copy(input, () => rules.inputOf(place, work.name));
    const asked = { name: work.name, input: copied, path: pathOf(place), method: found?.name ?? null };
    this.#items.push({ kind: "outside", ...asked });
  }

  #checkTimers(): void {
    const { place, method, of } = this;
    if (place.shape.anonymous) throw rules.badTimer(place, rules.noTimer.anonymous);
    if (method.readonly) throw rules.badTimer(place, rules.noTimer.readonly(method));
    if (of.in(place)?.givenUp) throw rules.badTimer(place, rules.noTimer.givenUp);
  }

  read<T extends Context<Key>>(cls: ContextClass<T>): View<T> {
    const at = addressAbove(this.place, cls as unknown as ContextClass) as Place;
    const { target, method } = this.of;
    const isDeclared =
      target.isBelow(at) && method.reads.some((declared) => addressAbove(target, declared) === at);
    if (this.of.in(at) === undefined && !isDeclared) {
      throw rules.undeclaredRead(this.place, method, cls.name);
    }
    return at.view(at.now()) as View<T>;
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

/** A program whose logical nodes run one event at a time. */
export class SequentialProgram {
  readonly #roots = new Map<string, Place>();
  readonly #armed = new Set<TimerId>();

  constructor(roots: Readonly<Record<string, ContextClass>>) {
    for (const [node, cls] of Object.entries(roots)) {
      this.#roots.set(node, new Place(node, null, null, undefined, cls));
    }
  }

  /** `timer` is the one that begins this event, if one does. A promise comes of methods that wait for something. */
  run(facts: SequentialEvent, timer?: TimerId): Outcome | Promise<Outcome> {
    const target = resolvePath(this.#root(facts.node), facts.path);
    const method = target.shape.methods.get(facts.method);
    if (method === undefined) throw noSuchMethod(target.shape, facts.method, String(target));
    const wasCancelled = timer !== undefined && !this.#armed.delete(timer);
    if (wasCancelled) return { ok: true, value: undefined, later: [] };
    const event = new Event(facts, target, method, this.#roots);
    const frame = new Frame(event, target, method, null, 0);
    const ended = frame.run(facts.args, NO_CALLS);
    const isOver = !(ended instanceof Promise) && event.leftOver.length === 0;
    return isOver ? this.#end(event, frame, ended) : this.#endLater(event, frame, ended);
  }

  async #endLater(event: Event, frame: Frame, ending: Ended | Promise<Ended>): Promise<Outcome> {
    const ended = await ending;
    for (const call of event.leftOver) await call;
    return this.#end(event, frame, ended);
  }

  #end(event: Event, frame: Frame, { ok, value }: Ended): Outcome {
    if (ok) return { ok, value, later: this.#commit(frame.later()) };
    for (const { place, found } of event.entered) place.putBack(found);
    return { ok: false, error: failureOf(value), later: [] };
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
