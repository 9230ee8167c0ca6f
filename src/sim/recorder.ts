import type { CommitOrder } from "../core/core.js";
import type { CoreEvent } from "../core/event.js";
import { invariant } from "../errors.js";
import type { Effect } from "../host/effects.js";
import type { Program } from "../host/program.js";
import type { EventRequest, Waiting } from "../host/request.js";
import type { Slot } from "../host/slot.js";
import type { TimerId } from "../model/event.js";
import { pathOf } from "../model/path.js";
import { changedFields, initialState, viewOf } from "../state/fields.js";
import { plain } from "./data.js";
import { failureOf, type LaterEffect, type LoggedEvent, type Origin, type RunLog, type Told } from "./log.js";

/** Stands for whoever waits for a request of the workload; what came of it is in the log. */
export class RequestWaiting implements Waiting {
  constructor(
    readonly request: number,
    readonly submittedStep: number,
  ) {}

  resolve(): void {}

  reject(): void {}
}

/** Writes down what the observers of a run could see. */
export class Recorder {
  readonly #events: LoggedEvent[] = [];
  readonly #told: Told[] = [];
  readonly #timers = new Map<TimerId, { parent: number; index: number }>();

  constructor(
    readonly step: () => number,
    readonly commitOrder: CommitOrder,
  ) {}

  settled(event: CoreEvent<EventRequest>): LoggedEvent {
    const { time } = event;
    const { slot, method, args, caller, execution, waiting } = event.payload;
    const later = (execution?.effects ?? []).map((effect, index) => {
      if (effect.kind === "timer") this.#timers.set(effect.id, { parent: event.ticket, index });
      return laterOf(effect, time);
    });
    const logged: LoggedEvent = {
      node: slot.node,
      ticket: event.ticket,
      path: pathOf(slot),
      method: method.name,
      args,
      time,
      caller,
      origin: this.#originOf(event.payload),
      result: execution?.ok
        ? { ok: true, value: execution.value }
        : { ok: false, error: failureOf(execution?.value) },
      later,
      submittedStep: (waiting as RequestWaiting | null)?.submittedStep ?? 0,
      acknowledgedStep: this.step(),
    };
    this.#events.push(logged);
    return logged;
  }

  told(client: string, message: unknown, from: Pick<Told, "node" | "ticket" | "index">): void {
    this.#told.push({ client, message, ...from });
  }

  finish(program: Program): RunLog {
    const armed: RunLog["armed"] = new Map();
    const states: RunLog["states"] = new Map();
    for (const node of program.nodes.values()) {
      armed.set(node.name, node.armed);
      states.set(node.name, new Map(changedStates(node.root)));
    }
    return { commitOrder: this.commitOrder, events: this.#events, told: this.#told, armed, states };
  }

  #originOf({ origin, waiting }: EventRequest): Origin {
    if (origin.kind === "request") return { kind: "request", request: (waiting as RequestWaiting).request };
    if (origin.kind !== "timer") return origin;
    const set = this.#timers.get(origin.id);
    invariant(set !== undefined, `nobody has set the timer ${origin.id}`);
    return { kind: "timer", ...set };
  }
}

function laterOf(effect: Effect, time: number): LaterEffect {
  switch (effect.kind) {
    case "start":
      return { kind: "start", path: pathOf(effect.slot), method: effect.method.name, args: effect.args };
    case "send": {
      const { slot, method, args } = effect;
      return { kind: "send", node: slot.node, path: pathOf(slot), method: method.name, args };
    }
    case "tell":
      return effect;
    case "timer": {
      const { id, due, slot, method, args } = effect;
      return { kind: "timer", id, path: pathOf(slot), method: method.name, args, ms: due - time };
    }
    case "cancel":
      return { kind: "cancel", timer: effect.id };
  }
}

/** The fields of each context that differs from its initial state, under its address's text. */
function* changedStates(slot: Slot): Iterable<[string, object]> {
  if (slot.exists && changedFields(slot, initialState(slot), slot.state).length > 0) {
    const view = Object.entries(viewOf(slot, slot.state)).map(([field, value]) => [field, plain(value)]);
    yield [String(slot), Object.freeze(Object.fromEntries(view))];
  }
  for (const child of slot.made()) yield* changedStates(child);
}
