import type { CoreEvent, EntryRequest, Outcome } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import { type Slot, stateOrNull } from "../context/index.js";
import {
  AtOnce,
  type Effect,
  type EventRequest,
  Execution,
  endsItsHosts,
  type Frame,
  Rest,
  type RunningEvent,
  type Supervisor,
} from "../event/index.js";
import type { Limits } from "../ports/index.js";
import type { Runner } from "./runner.js";
import type { Scheduler } from "./scheduler.js";
import { letIn } from "./whole.js";

type Event = CoreEvent<EventRequest>;

/** Runs the events of a logical node in this thread. */
export class LocalRunner implements Runner, Supervisor {
  readonly limits: Limits;
  readonly marks: Marks | undefined;
  readonly plant: Plant | undefined;
  readonly rest: Rest;
  readonly keepsStates = false;
  readonly isDue = false;
  readonly #scheduler: Scheduler;
  readonly #atOnce: AtOnce;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.limits = scheduler.limits;
    this.marks = scheduler.marks;
    this.plant = scheduler.plant;
    this.rest = new Rest(scheduler.ports);
    this.#atOnce = new AtOnce(scheduler.ports, () => scheduler.halted !== null);
  }

  see({ payload }: Event, slot: Slot): void {
    payload.seen ??= new Map();
    payload.seen.set(slot, stateOrNull(slot));
  }

  enter({ event, ofAttempt, token }: EntryRequest<EventRequest>): void {
    const { ports } = this.#scheduler;
    if (ports.run === undefined) this.go(event, ofAttempt, token);
    else ports.run(() => this.go(event, ofAttempt, token));
  }

  go(event: Event, attempt: number, token: unknown): void {
    const scheduler = this.#scheduler;
    if (!scheduler.admits(event, attempt, token, this)) return;
    if (token !== null) return letIn(token as Frame, scheduler.ledger?.journal ?? null);
    const execution = new Execution(this, event);
    event.payload.execution = execution;
    if (endsItsHosts(event.payload)) scheduler.giveUp(event, (error) => execution.giveUp(error));
    else execution.start();
  }

  /** With a journal, they leave when it has been given their states. */
  appending(first: Event): void {
    if (this.#scheduler.ledger !== null) return;
    for (let at: Event | null = first; at !== null; at = at.along) at.payload.execution?.leave();
  }

  goOn(): void {}

  halt(): void {}

  call(execution: Execution, frame: Frame): void {
    const event = execution.event as Event;
    const mayRunNow = !frame.isWhole && this.#atOnce.isPossible;
    if (mayRunNow && this.#scheduler.enterNow(event, frame.slot)) return this.#atOnce.run(frame);
    this.#scheduler.call(event, frame.slot, frame, frame.isWhole);
  }

  runSoon(_: Execution, frame: Frame): void {
    this.#atOnce.runOrSoon(frame);
  }

  release(event: RunningEvent, slot: Slot, changed: boolean): void {
    this.#scheduler.release(event as Event, slot, changed);
  }

  startAgain(event: RunningEvent): void {
    this.#scheduler.lose([event as Event]);
  }

  takeBackElsewhere(_event: RunningEvent, _calls: readonly number[], done: () => void): void {
    done();
  }

  retract(event: RunningEvent, done: () => void): void {
    this.#scheduler.retract(event as Event, done);
  }

  finish(event: RunningEvent, outcome: Outcome<EventRequest>): void {
    this.#scheduler.finish(event as Event, outcome);
  }

  refuse(effects: readonly Effect[]): HeadwaterError | null {
    return this.#scheduler.refuse(effects);
  }

  peer(cls: ContextClass, name: string | undefined): Slot {
    return this.#scheduler.around.peer(cls, name);
  }

  broken(error: unknown): void {
    this.#scheduler.ports.broken(error);
  }
}
