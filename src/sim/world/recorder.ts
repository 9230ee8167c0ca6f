import type { CommitOrder } from "../../core/core.js";
import type { CoreEvent } from "../../core/event.js";
import { invariant } from "../../errors.js";
import type { Slot } from "../../host/context/index.js";
import type { Effect, EventRequest, WaitingCaller } from "../../host/event/index.js";
import type { Program } from "../../host/node/index.js";
import type { HostSite } from "../../host/site/index.js";
import type { Sender, TimerId } from "../../model/event.js";
import type { OutsideResult } from "../../model/outside.js";
import { pathOf, resolvePath, type Step } from "../../model/path.js";
import { changedFields, initialState, viewOf } from "../../state/fields.js";
import {
  failureOf,
  type HeardMessage,
  type LaterEffect,
  type LoggedEvent,
  type LoggedOrigin,
  type LoggedResult,
  type RunLog,
} from "../oracle/index.js";
import { plain } from "../programs/index.js";
import type { FinalContext } from "./world-run.js";

/** Stands for the caller of a request of the workload; what came of it is in the log. */
export class RequestWaiting implements WaitingCaller {
  constructor(readonly request: number) {}

  resolve(): void {}

  reject(): void {}
}

const NOTHING_LATER: readonly LaterEffect[] = [];

/** Where a message to a client came from. */
type Position = Pick<HeardMessage, "node" | "ticket" | "index">;

/** Writes down what the observers of a run could see. */
export class Recorder {
  readonly #events: LoggedEvent[] = [];
  readonly #told: HeardMessage[] = [];
  /** The last message of each logical node to each client: at all, and from earlier processes. */
  readonly #lastTold = new Map<string, Position>();
  #crashes = 0;
  #toldBefore: ReadonlyMap<string, Position> = new Map();
  readonly #timers = new Map<TimerId, { parent: number; index: number }>();
  /** What is known of events whose commit is not certain yet. */
  readonly #appended = new WeakMap<CoreEvent<EventRequest>, LoggedEvent>();
  /** The contexts that events have been in, by logical node and the text of their addresses. */
  readonly #touched = new Map<string, Map<string, readonly Step[]>>();
  readonly #outside: RunLog["outside"] = new Map();
  readonly #answers: RunLog["answers"] = new Map();
  readonly #lost: RunLog["lost"] = new Set();
  readonly #lostAlone: RunLog["lostAlone"] = new Map();

  constructor(
    readonly step: () => number,
    /** By the clock that only goes forward, of the program that runs. */
    readonly now: () => number,
    /** When a request of the workload was made. */
    readonly submitted: (request: number) => number,
    readonly commitOrder: CommitOrder,
  ) {}

  /** With a journal: an event has ended, and its traces are on their way there. */
  appended(event: CoreEvent<EventRequest>): LoggedEvent {
    const logged = this.#logged(event);
    this.#appended.set(event, logged);
    for (const slot of event.payload.execution?.touched() ?? []) {
      const paths = this.#touched.get(slot.node) ?? new Map<string, readonly Step[]>();
      this.#touched.set(slot.node, paths);
      paths.set(String(slot), pathOf(slot));
    }
    return logged;
  }

  /** They are in the journal. If a crash keeps everybody from hearing of it, they can be known from now on. */
  keep(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      event.acknowledgedStep = this.step();
      event.acknowledgedMs = this.now();
      this.#events.push(event);
    }
  }

  settled(event: CoreEvent<EventRequest>): LoggedEvent {
    const appended = this.#appended.get(event);
    if (appended !== undefined) {
      appended.acknowledgedStep = this.step();
      appended.acknowledgedMs = this.now();
      return appended;
    }
    const logged = this.#logged(event);
    this.#events.push(logged);
    return logged;
  }

  /** An outside function was called. */
  outside(key: string, result: OutsideResult<unknown>): void {
    this.#outside.set(key, result);
  }

  /** A client got an answer. Each answer to one request must be the same. */
  answered(request: number, result: LoggedResult): void {
    const answers = this.#answers.get(request) ?? [];
    answers.push(result);
    this.#answers.set(request, answers);
  }

  /** A crash came before the answer, and the client does not ask again. */
  lost(request: number): void {
    this.#lost.add(request);
  }

  /** A host has ended on which there was nothing but this event. */
  lostAlone(node: string, ticket: number): void {
    const event = `${node}/${ticket}`;
    this.#lostAlone.set(event, (this.#lostAlone.get(event) ?? 0) + 1);
  }

  #logged(event: CoreEvent<EventRequest>): LoggedEvent {
    const { time, steadyMs } = event;
    const { slot, method, args, caller, execution } = event.payload;
    const effects = execution?.effects ?? [];
    const later =
      effects.length === 0
        ? NOTHING_LATER
        : effects.map((effect, index) => {
            if (effect.kind === "timer") this.#timers.set(effect.id, { parent: event.ticket, index });
            return laterOf(effect, steadyMs);
          });
    const origin = this.#originOf(event.payload);
    return {
      node: slot.node,
      ticket: event.ticket,
      path: pathOf(slot),
      method: method.name,
      args,
      time,
      steadyMs,
      caller,
      sender: senderOf(event.payload),
      origin,
      result: execution?.ok
        ? { ok: true, value: execution.value }
        : { ok: false, error: failureOf(execution?.value) },
      later,
      acknowledgedMs: this.now(),
      submittedStep: origin.kind === "request" ? this.submitted(origin.request) : 0,
      acknowledgedStep: this.step(),
    };
  }

  /** A message reached a client. */
  told(client: string, message: unknown, from: Position): void {
    this.#lastTold.set(`${from.node} ${client}`, from);
    this.#told.push({ client, message, ...from });
  }

  /** Did an earlier process tell the client this? */
  wasTold(client: string, from: Position): boolean {
    const last = this.#toldBefore.get(`${from.node} ${client}`);
    return last !== undefined && !isAfter(from, last);
  }

  /** The process has ended. */
  crashed(): void {
    this.#crashes += 1;
    this.#toldBefore = new Map(this.#lastTold);
  }

  finish(program: Program, sites: readonly HostSite[]): RunLog {
    const armed: RunLog["armed"] = new Map();
    const states: RunLog["states"] = new Map();
    for (const { name, root, timers } of program.nodes.values()) {
      armed.set(name, timers.armed);
      // With a journal, contexts that were not used lately are not in memory.
      const paths = this.#touched.get(name)?.values();
      const roots = sites.length === 0 ? [root] : sites.map((site) => site.roots.get(name) as Slot);
      const slots =
        paths === undefined
          ? roots.flatMap((each) => [...contextsOf(each)])
          : [...paths].map((path) => resolvePath(root, path));
      states.set(name, new Map([...slots].flatMap(changedState)));
    }
    return {
      commitOrder: this.commitOrder,
      crashes: this.#crashes,
      events: this.#events,
      told: this.#told,
      outside: this.#outside,
      answers: this.#answers,
      lost: this.#lost,
      lostAlone: this.#lostAlone,
      parked: new Set(program.ledger?.parked.list().map(({ id }) => id)),
      armed,
      states,
    };
  }

  /** The contexts that have a state, with the journal's. */
  contexts(program: Program): FinalContext[] {
    return [...program.nodes.values()].flatMap(({ name, root }) =>
      [...(this.#touched.get(name)?.values() ?? [])]
        .map((path) => resolvePath(root, path))
        .filter((slot) => changedState(slot).length > 0)
        .map((slot) => ({ slot, fields: fieldsOf(slot) })),
    );
  }

  #originOf({ origin, waiting, request: id }: EventRequest): LoggedOrigin {
    if (origin.kind === "request") {
      const request = id === undefined ? (waiting as RequestWaiting).request : Number(id);
      return { kind: "request", request };
    }
    invariant(origin.kind !== "parked", "events are not replayed in a simulation");
    if (origin.kind !== "timer") return origin;
    const set = this.#timers.get(origin.id);
    invariant(set !== undefined, `no event has set the timer ${origin.id}`);
    return { kind: "timer", ...set };
  }
}

function senderOf({ origin }: EventRequest): Sender | undefined {
  return origin.kind === "message" ? { node: origin.from, address: origin.sender ?? "" } : undefined;
}

function laterOf(effect: Effect, steadyMs: number): LaterEffect {
  switch (effect.kind) {
    case "start":
      return { kind: "start", path: pathOf(effect.slot), method: effect.method.name, args: effect.args };
    case "send": {
      const { slot, method, args, sender } = effect;
      return { kind: "send", node: slot.node, path: pathOf(slot), method: method.name, args, sender };
    }
    case "tell":
      return effect;
    case "timer": {
      const { id, owner, due, slot, method, args } = effect;
      const [path, ms] = [pathOf(slot), due - steadyMs];
      return { kind: "timer", id, owner: pathOf(owner), path, method: method.name, args, ms };
    }
    case "cancel":
      return { kind: "cancel", timer: effect.id };
    case "outside": {
      const { outside, input, slot, method, args } = effect;
      const { name } = outside;
      return { kind: "outside", name, input, path: pathOf(slot), method: method?.name ?? null, args };
    }
  }
}

function* contextsOf(slot: Slot): Iterable<Slot> {
  if (slot.exists) yield slot;
  for (const child of slot.made()) yield* contextsOf(child);
}

/** The fields of a context, if they differ from its initial state, under its address's text. */
function changedState(slot: Slot): [string, object][] {
  const { state } = slot;
  if (changedFields(slot, initialState(slot), state).length === 0) return [];
  return [[String(slot), fieldsOf(slot)]];
}

function fieldsOf(slot: Slot): Readonly<Record<string, unknown>> {
  const view = Object.entries(viewOf(slot, slot.state)).map(([field, value]) => [field, plain(value)]);
  return Object.freeze(Object.fromEntries(view));
}

function isAfter(a: Position, b: Position): boolean {
  return a.ticket === b.ticket ? a.index > b.index : a.ticket > b.ticket;
}
