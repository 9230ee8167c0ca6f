import { invariant } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import type { TimerId } from "../../model/event.js";
import { resolvePath, type Step } from "../../model/path.js";
import { noSuchMethod } from "../../model/refs.js";
import type { Ended } from "./handing-over.js";
import { failureOf, type LoggedOutcome } from "./log.js";
import { SequentialContext } from "./sequential-context.js";
import { Event, type SequentialEvent } from "./sequential-event.js";
import { SequentialFrame } from "./sequential-frame.js";

/**
 * The oracle: runs the events of a program one at a time, to the end, on one thread. It does the obvious thing
 * everywhere (one live instance per context, a copy of its fields whenever a method ends or makes a call, the copies put
 * back when a call or an event fails) and shares nothing with the runtime but the model and the copying of values.
 */

/** The timer that starts an event, and the context that set it. */
export interface FiredTimer {
  readonly id: TimerId;
  readonly owner: readonly Step[];
}

/** A program whose logical nodes run one event at a time. */
export class SequentialProgram {
  readonly #roots = new Map<string, SequentialContext>();

  constructor(roots: Readonly<Record<string, ContextClass>>) {
    for (const [node, cls] of Object.entries(roots)) {
      this.#roots.set(node, new SequentialContext(node, null, null, undefined, cls));
    }
  }

  /** `timer` is the timer that begins this event, if one does. A promise comes of methods that wait for something. */
  run(facts: SequentialEvent, timer?: FiredTimer): LoggedOutcome | Promise<LoggedOutcome> {
    const target = resolvePath(this.#root(facts.node), facts.path);
    const method = target.shape.methods.get(facts.method);
    if (method === undefined) throw noSuchMethod(target.shape, facts.method, String(target));
    const event = new Event(facts, target, method, this.#roots);
    if (timer !== undefined && !this.#goesOff(event, timer)) return { ok: true, value: undefined, later: [] };
    const frame = new SequentialFrame(event, target, method, null, 0);
    const ended = frame.run(facts.args, []);
    const isOver = !(ended instanceof Promise) && event.leftOver.length === 0;
    return isOver ? this.#end(event, frame, ended) : this.#endLater(event, frame, ended);
  }

  async #endLater(
    event: Event,
    frame: SequentialFrame,
    ending: Ended | Promise<Ended>,
  ): Promise<LoggedOutcome> {
    const ended = await ending;
    for (const call of event.leftOver) await call;
    return this.#end(event, frame, ended);
  }

  #end(event: Event, frame: SequentialFrame, { ok, value }: Ended): LoggedOutcome {
    if (ok) return { ok, value, later: frame.later() };
    for (const { place, found } of event.entered) place.putBack(found);
    return { ok: false, error: failureOf(value), later: [] };
  }

  /** Is the timer still armed? It goes off in the context that set it, which the event is in from then on. */
  #goesOff(event: Event, { id, owner }: FiredTimer): boolean {
    const place = resolvePath(this.#root(event.target.node), owner);
    const found = place.state;
    if (!place.disarm(id)) return false;
    place.keep(place.now());
    event.entered.push({ place, found, givenUp: false });
    return true;
  }

  /** The fields of each context that differs from its initial state, under its address's text. */
  states(node: string): Map<string, object> {
    const changed = [...this.#root(node).changedContexts()];
    return new Map(changed.map((place) => [String(place), place.view(place.state)]));
  }

  #root(node: string): SequentialContext {
    const root = this.#roots.get(node);
    invariant(root !== undefined, `there is no logical node ${node}`);
    return root;
  }
}
