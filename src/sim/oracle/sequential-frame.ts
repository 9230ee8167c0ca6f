import { type HeadwaterError, invariant } from "../../errors.js";
import type { Address } from "../../model/address.js";
import {
  checkDeleted,
  checkHeld,
  inOrder,
  type Listed,
  listed,
  type Page,
  type PageOptions,
} from "../../model/below.js";
import { type Activation, addressAbove, Context, type ContextClass } from "../../model/context.js";
import type { Key } from "../../model/key.js";
import { type Children, Reference, type Target, type View } from "../../model/refs.js";
import * as rules from "../../model/rules.js";
import { explained } from "../../model/sealed.js";
import type { Method } from "../../model/shape.js";
import { awaitResult, Watched } from "../../model/watched.js";
import { copy, copyAll, copyThrown, isSimple } from "../../state/values.js";
import { comeToRest, type Ended, handOver, momentOf, Own, type StateMoment } from "./handing-over.js";
import type { LaterEffect } from "./log.js";
import { SequentialAsking } from "./sequential-asking.js";
import { NOTHING, type SequentialContext, type SequentialState } from "./sequential-context.js";
import type { Event } from "./sequential-event.js";

const LIST = "(list)";
const NO_CALLS: readonly SequentialFrame[] = [];

/** One method of one event: the first, or a call below. */
export class SequentialFrame extends SequentialAsking implements Activation {
  /** Its calls and its effects, in the order of the program text. */
  #items: (SequentialFrame | LaterEffect)[] = [];
  /** Its calls, and calls of async methods of its own context, in that order. */
  readonly #watched: (SequentialFrame | Own)[] = [];
  /** Calls and timers asked for so far, the refused ones included. */
  #asked = 0;
  /** The last of its calls, once its caller has the result. */
  #handedOver: Promise<void> | null = null;
  #before: SequentialState | null = null;
  /** The contexts that it has deleted, with their states. */
  readonly #deleted: [SequentialContext, SequentialState][] = [];
  #givenUpAs: SequentialState | null = null;
  /** What held of the caller's context when the call was made. */
  #callerHeld = false;
  #callerState: StateMoment = () => NOTHING;
  #done: Promise<void> | null = null;
  /** What its caller has of it. */
  readonly promise = new Watched();
  #tookTime = false;
  /** Has its code returned, or thrown? */
  #settled: "returned" | "threw" | null = null;
  #ended = false;
  /** A broken rule that no caller can catch. The first in the order of the program text counts. */
  #doom: HeadwaterError | null = null;
  #leftBehind: HeadwaterError | null = null;

  constructor(
    of: Event,
    place: SequentialContext,
    method: Method,
    readonly outer: SequentialFrame | null,
    readonly number: number,
  ) {
    super(of, place, method);
  }

  get event(): this {
    return this;
  }

  call(target: Address, method: Method, args: unknown[]): Promise<unknown> {
    return this.#call(target as SequentialContext, method, (below, earlier) => below.run(args, earlier));
  }

  #call(
    target: SequentialContext,
    method: Method,
    run: (below: SequentialFrame, earlier: readonly SequentialFrame[]) => Ended | Promise<Ended>,
  ): Promise<unknown> {
    if (this.#isTooLate(rules.did.call(target, method))) return this.#refuseLate(target, method);
    this.#asked += 1;
    const below = new SequentialFrame(this.of, target, method, this, this.#asked);
    const earlier = this.#calls().filter((call) => call.#isInTheWayOf(below));
    this.#items.push(below);
    this.#watched.push(below);
    below.#callerHeld = this.of.in(this.place)?.givenUp === false;
    below.#callerState = momentOf(this.place);
    below.#done = handOver(below, run(below, earlier), this.#handedOver);
    this.#handedOver = below.#done;
    return below.promise;
  }

  /** Does something to the context and all below it at once, when the calls there that were made before have ended. */
  #atOnce(
    target: SequentialContext,
    name: string,
    check: () => void,
    act: (below: SequentialFrame) => unknown,
  ): Promise<unknown> {
    return this.#call(target, { ...this.method, name }, (below, earlier) => {
      const run = (): Ended => {
        try {
          const value = act(below);
          below.#ended = true;
          return { ok: true, value };
        } catch (thrown) {
          return below.#failed(thrown);
        }
      };
      try {
        check();
      } catch (thrown) {
        return below.#failed(thrown);
      }
      return earlier.length === 0 ? run() : Promise.all(earlier.map((frame) => frame.#done)).then(run);
    });
  }

  list<C extends Context<Key>>(
    children: Children<C>,
    options: PageOptions<C["key"]> = {},
  ): Promise<Page<C["key"]>> {
    const { place } = this;
    let what: Listed = ["", "", 0];
    const check = () => {
      if (this.isGivenUp) throw rules.badList(place, rules.noList.givenUp);
      what = listed(place, children, options);
    };
    return this.#atOnce(place, LIST, check, () => place.page(what)) as Promise<Page<C["key"]>>;
  }

  delete(target: Target<unknown>): Promise<void> {
    const place = Reference.addressOf(target) as SequentialContext;
    const check = () => checkDeleted(this.place, place, this.of.method.readonly);
    return this.#atOnce(place, "(delete)", check, (below) => below.#reset()) as Promise<void>;
  }

  #reset(): void {
    const { of, place } = this;
    const isWithin = (each: SequentialContext) => each === place || each.isBelow(place);
    checkHeld(
      place,
      of.entered.filter(({ place: each, givenUp }) => givenUp && isWithin(each)).map((each) => each.place),
    );
    const below = new Set(place.existing());
    below.delete(place);
    for (const each of [place, ...inOrder(below)]) {
      const { instance, state } = each;
      invariant(instance !== null, "a context that is deleted has been made");
      if (of.in(each) === undefined) of.entered.push({ place: each, found: state, givenUp: false });
      this.#deleted.push([each, state]);
      for (const timer of each.reset()) this.#items.push({ kind: "cancel", timer });
    }
  }

  /** The code that was left behind gets to know. */
  #refuseLate(target: Address, method: Method): Promise<unknown> {
    const error = rules.leftBehind(this.place, this.method, rules.did.call(target, method));
    const late = new Own(this.place, method, true);
    this.#watched.push(late);
    this.#handedOver = handOver(late, { ok: false, value: error }, this.#handedOver);
    return late.promise;
  }

  own(method: { readonly name: string }, promise: Promise<unknown>): Promise<unknown> {
    const own = new Own(this.place, method);
    this.#watched.push(own);
    promise.then(
      (value) => own.promise.end(true, value),
      (error: unknown) => own.promise.end(false, error),
    );
    return own.promise;
  }

  /** A method that has returned may do nothing more; what one that has thrown does counts for nothing. */
  #isTooLate(did: string): boolean {
    if (this.#settled === "returned") this.#leftBehind ??= rules.leftBehind(this.place, this.method, did);
    return this.#settled !== null;
  }

  #calls(): readonly SequentialFrame[] {
    return this.#items.length === 0
      ? NO_CALLS
      : this.#items.filter((item) => item instanceof SequentialFrame);
  }

  #isInTheWayOf({ place }: SequentialFrame): boolean {
    return !this.#ended && (this.place === place || this.place.isBelow(place) || place.isBelow(this.place));
  }

  /** Waits only where the program waits: most methods have ended when this returns. */
  run(args: unknown[], earlier: readonly SequentialFrame[]): Ended | Promise<Ended> {
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
    this.#tookTime = true;
    return new Promise((resolve) => {
      awaitResult(
        result as PromiseLike<unknown>,
        (value) => resolve(this.#end({ ok: true, value })),
        (thrown) => resolve(this.#end({ ok: false, value: thrown })),
      );
    });
  }

  #end(own: Ended): Ended | Promise<Ended> {
    return this.#watched.every(({ promise }) => promise.isOver) ? this.#close(own) : this.#endLater(own);
  }

  /** The method's own code has come to its end; calls that it waits for, and what follows them, may go on. */
  async #endLater({ ok, value }: Ended): Promise<Ended> {
    let returned = NOTHING;
    try {
      if (ok) returned = this.place.now();
    } catch (thrown) {
      return this.#endLater({ ok: false, value: thrown });
    }
    this.#settled = ok ? "returned" : "threw";
    let open: Watched[];
    do {
      open = this.#open();
      await Promise.allSettled(open);
      await comeToRest();
    } while (open.length > 0 || this.#open().length > 0);
    try {
      const changed = ok ? this.place.changed(returned, this.place.now()) : [];
      if (changed.length > 0) this.#isTooLate(rules.did.change(changed));
    } catch (thrown) {
      return this.#close({ ok: false, value: thrown });
    }
    return this.#close({ ok, value });
  }

  /** What the method waits for. */
  #open(): Watched[] {
    const open: Watched[] = [];
    for (const { promise } of this.#watched) promise.addOpen(open);
    return open;
  }

  #close(own: Ended): Ended {
    const ended = this.#leaveOrFail(own);
    if (this.#tookTime) this.place.renew(); // code that it has left behind may still have the instance
    return ended;
  }

  #leaveOrFail({ ok, value }: Ended): Ended {
    if (this.#before !== null) Context.activate(this.place.instance, null);
    this.#ended = true;
    this.#lookAtCalls();
    this.#doom ??= this.#leftBehind;
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
    const { place, method, outer } = this;
    if (outer !== null && !place.isBelow(outer.place)) {
      if (place === outer.place) throw rules.callSelf(place, method);
      const rule = outer.place.isBelow(place) ? rules.callUp : rules.callSideways;
      throw rule(outer.place, place, method);
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
    this.#keep(this.#before as SequentialState);
    if (this.#doom !== null) throw this.#doom;
    return copy(result, () => rules.resultOf(place, method));
  }

  #lookAtCalls(): void {
    for (const call of this.#watched) {
      const isOver = call.promise.hasEnded && !call.promise.isForgotten;
      if (call instanceof Own && call.isLate) return;
      if (call instanceof Own) {
        if (!isOver) this.#doom ??= rules.unawaitedOwn(this.place, this.method, call.method);
        continue;
      }
      if (!isOver) this.of.leftOver.push(call.#done);
      if (isOver) this.#doom ??= call.#doom;
      else this.#doom ??= rules.unawaited(this.place, this.method, call.place, call.method);
    }
  }

  #keep(before: SequentialState): void {
    const { place, method } = this;
    const after = place.now();
    const changed = method.readonly ? place.changed(before, after) : [];
    if (changed.length > 0) this.#doom ??= rules.readonlyChanged(place, method, changed);
    const late = this.#givenUpAs === null ? [] : place.changed(this.#givenUpAs, after);
    if (late.length > 0) this.#doom ??= rules.writeAfterDowngrade(place, late);
    place.keep(after);
  }

  /** Takes back what this method and its calls did. What was given up stays given up: others may be in it. */
  #undo(): void {
    for (const call of this.#calls().toReversed()) call.#undo();
    this.#items = [];
    for (const [place, state] of this.#deleted.toReversed()) place.putBack(state);
    if (this.#before !== null) this.place.putBack(this.#before);
  }

  downgrade(): void {
    if (this.#isTooLate(rules.did.downgrade)) return;
    if (this.#calls().some(({ method, promise }) => method.name === LIST && !promise.hasEnded))
      throw rules.badList(this.place, rules.noList.underWay);
    const { place, of } = this;
    const entered = of.in(place);
    if (place.shape.anonymous || entered === undefined || entered.givenUp) return;
    if (of.method.readonly) throw rules.readonlyDowngrade(place);
    type Above = SequentialContext | null;
    for (let above = place.parent as Above; above !== null; above = above.parent as Above) {
      const callFrom = this.#callFrom(above);
      const isHeld = callFrom === null ? of.in(above)?.givenUp === false : callFrom.#callerHeld;
      if (isHeld) throw rules.downgradeBelowHeld(place, above);
    }
    this.#givenUpAs = place.now();
    entered.givenUp = true;
  }

  /** The call, at or above this one, that a method of this context has made; null if none has. */
  #callFrom(above: SequentialContext): SequentialFrame | null {
    for (let at: SequentialFrame = this; at.outer !== null; at = at.outer)
      if (at.outer.place === above) return at;
    return null;
  }

  later(into: LaterEffect[] = []): LaterEffect[] {
    for (const item of this.#items) {
      if (item instanceof SequentialFrame) item.later(into);
      else into.push(item);
    }
    return into;
  }

  protected override nextPosition(): number[] {
    this.#asked += 1;
    const position = [this.#asked];
    for (let at: SequentialFrame = this; at.outer !== null; at = at.outer) position.unshift(at.number);
    return position;
  }

  protected override ask(effect: LaterEffect): void {
    if (!this.#isTooLate(rules.did.ask)) this.#items.push(effect);
  }

  read<T extends Context<Key>>(cls: ContextClass<T>): View<T> {
    const at = addressAbove(this.place, cls as unknown as ContextClass) as SequentialContext;
    const { target, method } = this.of;
    const isDeclared =
      target.isBelow(at) && method.reads.some((declared) => addressAbove(target, declared) === at);
    if (this.of.in(at) === undefined && !isDeclared) {
      throw rules.undeclaredRead(this.place, method, cls.name);
    }
    const callFrom = this.#callFrom(at);
    return at.view(callFrom === null ? at.now() : callFrom.#callerState()) as View<T>;
  }
}
