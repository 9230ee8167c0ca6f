import type { EntryRequest, Outcome } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import type { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import { type Slot, stateOrNull } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
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
import { letIn } from "./contexts-below.js";
import type { Runner } from "./runner.js";
import type { Scheduler } from "./scheduler.js";

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

  see({ payload }: NodeEvent, slot: Slot): void {
    payload.seen ??= new Map();
    payload.seen.set(slot, stateOrNull(slot));
  }

  enter({ event, ofAttempt, token }: EntryRequest<EventRequest>): void {
    const { ports } = this.#scheduler;
    if (ports.run === undefined) this.go(event, ofAttempt, token);
    else ports.run(() => this.go(event, ofAttempt, token));
  }

  go(event: NodeEvent, attempt: number, token: unknown): void {
    const scheduler = this.#scheduler;
    if (!scheduler.admits(event, attempt, token, this)) return;
    if (token !== null) return letIn(token as Frame, scheduler.ledger?.journal ?? null);
    const execution = new Execution(this, event);
    event.payload.execution = execution;
    if (endsItsHosts(event.payload)) scheduler.giveUp(event, (error) => execution.giveUp(error));
    else execution.start();
  }

  /** With a journal, they leave when it has been given their states. */
  appending(first: NodeEvent): void {
    if (this.#scheduler.ledger !== null) return;
    for (let at: NodeEvent | null = first; at !== null; at = at.along) at.payload.execution?.leave();
  }

  goOn(): void {}

  halt(): void {}

  call(execution: Execution, frame: Frame): void {
    const event = execution.event as NodeEvent;
    const mayRunNow = !frame.isWhole && this.#atOnce.isPossible;
    if (mayRunNow && this.#scheduler.enterNow(event, frame.slot)) return this.#atOnce.run(frame);
    this.#scheduler.call(event, frame.slot, frame, frame.isWhole);
  }

  runSoon(_: Execution, frame: Frame): void {
    this.#atOnce.runOrSoon(frame);
  }

  release(event: RunningEvent, slot: Slot, changed: boolean): void {
    this.#scheduler.release(event as NodeEvent, slot, changed);
  }

  startAgain(event: RunningEvent): void {
    this.#scheduler.lose([event as NodeEvent]);
  }

  rollBackElsewhere(_event: RunningEvent, _calls: readonly number[], done: () => void): void {
    done();
  }

  retract(event: RunningEvent, done: () => void): void {
    this.#scheduler.retract(event as NodeEvent, done);
  }

  finish(event: RunningEvent, outcome: Outcome<EventRequest>): void {
    this.#scheduler.finish(event as NodeEvent, outcome);
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
