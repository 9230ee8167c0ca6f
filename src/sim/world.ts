import type { CommitOrder } from "../core/core.js";
import type { CoreEvent } from "../core/event.js";
import type { Marks } from "../core/marks.js";
import type { Plant } from "../core/plants.js";
import { DEFAULT_LIMITS } from "../host/limits.js";
import type { Ports } from "../host/ports.js";
import { Program } from "../host/program.js";
import type { EventRequest } from "../host/request.js";
import { resolvePath } from "../model/path.js";
import { digest } from "./data.js";
import type { RunLog } from "./log.js";
import type { BuiltProgram, RequestSpec } from "./program.js";
import { type Random, TraceHash } from "./random.js";
import { Recorder, RequestWaiting } from "./recorder.js";

export interface WorldOptions {
  readonly commitOrder: CommitOrder;
  readonly marks: Marks;
  readonly plant?: Plant | undefined;
}

export interface WorldRun {
  readonly log: RunLog;
  readonly hash: string;
  readonly steps: number;
  /** What is still open although nothing moves any more; null if everything came to rest. */
  readonly stuck: string | null;
}

/** Something that can happen next. */
interface Possible {
  readonly what: string;
  happen(): void;
}

const TURNS_TO_SETTLE = 12;
const BURST_MAX = 4;
/** Far more than any generated program takes: a run that goes on longer goes on for ever. */
const STEPS_MAX_PER_REQUEST = 2000;

/**
 * The simulated world: runs a program in the real core and host, but decides itself, from a seed, what happens
 * next among all that could: a request is made, a part of an event runs, a pause ends, the journal answers, a
 * message arrives (again), a timer goes off. Time is virtual.
 */
export class World {
  readonly #random: Random;
  readonly #hash = new TraceHash();
  readonly #possible: Possible[] = [];
  readonly #soon: (() => void)[] = [];
  readonly #journal: (() => void)[] = [];
  readonly #timers = new Map<() => void, number>();
  readonly #workload: readonly RequestSpec[];
  readonly #program: Program;
  readonly #recorder: Recorder;
  /** How likely a message arrives twice; how eager pumps are. Drawn per seed, so that seeds differ in kind. */
  readonly #duplicates: number;
  readonly #lazy: boolean;
  #time = 1_000_000;
  #step = 0;
  readonly #stepsMax: number;
  #broken: unknown;
  /** For each request, those that wait until it is acknowledged. */
  readonly #dependents: number[][];

  constructor(built: BuiltProgram, workload: readonly RequestSpec[], random: Random, options: WorldOptions) {
    this.#random = random;
    this.#workload = workload;
    this.#stepsMax = STEPS_MAX_PER_REQUEST * workload.length;
    this.#duplicates = random.chance(0.5) ? 0.2 : 0;
    this.#lazy = random.chance(0.3);
    this.#recorder = new Recorder(() => this.#step, options.commitOrder);
    this.#program = new Program(built.roots, this.#ports(), {
      commitOrder: options.commitOrder,
      limits: DEFAULT_LIMITS,
      marks: options.marks,
      plant: options.plant,
      onError: () => {},
      onSettled: (event) => this.#settled(event),
    });
    for (const client of new Set(workload.map((request) => request.client))) {
      if (client === null) continue;
      this.#program.connect(client, (message, from) => this.#recorder.told(client, message, from));
    }
    this.#dependents = workload.map(() => []);
    for (const [index, { after }] of workload.entries()) {
      if (after === null) this.#plan(index);
      else this.#dependents[after]?.push(index);
    }
  }

  async run(): Promise<WorldRun> {
    while (this.#possible.length > 0 || (await this.#somethingIsPossible())) {
      // Some things happen so close together that nobody gets to react in between.
      for (let burst = this.#random.int(BURST_MAX); burst >= 0 && this.#possible.length > 0; burst--)
        this.#happen();
      await null;
      this.#catchUp();
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#step > this.#stepsMax) break;
    }
    const log = this.#recorder.finish(this.#program);
    return { log, hash: this.#hash.digest(), steps: this.#step, stuck: this.#stuck() };
  }

  /** Lets one of the things happen that can. */
  #happen(): void {
    if (this.#timers.size > 0) this.#dueTimers();
    const index = this.#random.int(this.#possible.length);
    const next = this.#possible[index] as Possible;
    const last = this.#possible.pop() as Possible;
    if (last !== next) this.#possible[index] = last;
    this.#step += 1;
    this.#time += this.#random.int(3);
    this.#hash.add(next.what).add(index);
    next.happen();
  }

  /** Waits until something can happen, moving time to the next timer if need be. */
  async #somethingIsPossible(): Promise<boolean> {
    for (let turn = 0; turn < TURNS_TO_SETTLE && this.#possible.length === 0; turn++) {
      await null;
      this.#catchUp();
    }
    if (this.#possible.length > 0) return true;
    // Before the run may end, even the longest chain of promises must have come to rest.
    if (this.#timers.size === 0) await new Promise(setImmediate);
    this.#catchUp();
    if (this.#possible.length > 0) return true;
    const next = Math.min(...this.#timers.values());
    if (next === Number.POSITIVE_INFINITY) return false;
    this.#time = Math.max(this.#time, next);
    this.#dueTimers();
    return true;
  }

  #dueTimers(): void {
    for (const [task, due] of this.#timers) {
      if (due > this.#time) continue;
      this.#timers.delete(task);
      this.#possible.push({ what: "timer", happen: task });
    }
  }

  /** Takes time in the middle of a method. */
  pause(units: number): Promise<void> | undefined {
    if (units === 0) return undefined;
    return new Promise((resolve) => {
      let left = units;
      const wait = () => {
        left -= 1;
        if (left === 0) resolve();
        else this.#possible.push({ what: "pause", happen: wait });
      };
      this.#possible.push({ what: "pause", happen: wait });
    });
  }

  #plan(index: number): void {
    this.#possible.push({ what: "request", happen: () => this.#request(index) });
  }

  #request(index: number): void {
    const { node: name, path, method: methodName, args, client } = this.#workload[index] as RequestSpec;
    const node = this.#program.node(name);
    const slot = resolvePath(node.root, path);
    const method = slot.shape.methods.get(methodName);
    if (method === undefined) throw new RangeError(`${slot} has no method ${methodName}`);
    node.submit(slot, method, [...args], client ?? undefined, new RequestWaiting(index, this.#step));
  }

  #settled(event: CoreEvent<EventRequest>): void {
    const logged = this.#recorder.settled(event);
    const { ticket, result } = logged;
    this.#hash.add(ticket).add(result.ok ? digest(result.value) : result.error.message);
    if (logged.origin.kind !== "request") return;
    for (const index of this.#dependents[logged.origin.request] ?? []) this.#plan(index);
  }

  #stuck(): string | null {
    const open = [...this.#program.nodes.values()].filter((node) => !node.isQuiet);
    if (open.length === 0) return null;
    return open.map((node) => `${node.name}: ${node.unfinished} unfinished events`).join(", ");
  }

  /** Does what was to be done soon. */
  #catchUp(): void {
    try {
      for (let task = this.#soon.shift(); task !== undefined; task = this.#soon.shift()) task();
    } catch (error) {
      this.#broken ??= error;
    }
  }

  /** The journal answers in the order in which it was asked, a few at a time. */
  #answer(add: (what: string, happen: () => void) => void): void {
    const answered = this.#journal.splice(0, 1 + this.#random.int(this.#journal.length));
    if (this.#journal.length > 0) add("journal", () => this.#answer(add));
    for (const done of answered) done();
  }

  #ports(): Ports {
    const add = (what: string, happen: () => void) => this.#possible.push({ what, happen });
    return {
      now: () => this.#time,
      soon: (task) => (this.#lazy ? add("soon", task) : this.#soon.push(task)),
      broken: (error) => {
        this.#broken ??= error;
      },
      at: (time, task) => {
        this.#timers.set(task, time);
        return () => this.#timers.delete(task);
      },
      run: (task) => add("run", task),
      append: (_, done) => {
        this.#journal.push(done);
        if (this.#journal.length === 1) add("journal", () => this.#answer(add));
      },
      transmit: (_from, _to, arrive) => {
        add("message", () => {
          if (this.#random.chance(this.#duplicates)) add("duplicate", arrive);
          arrive();
        });
      },
    };
  }
}
