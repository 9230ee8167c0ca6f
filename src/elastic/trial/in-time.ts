import { type CommitOrder, Core } from "../../core/core.js";
import { CoreContext } from "../../core/core-context.js";
import type { CoreEvent, Outcome } from "../../core/event.js";

/**
 * Hosts in virtual time. The real core decides who may run when; how long things take is given: the head and each host
 * do one thing at a time, and a message takes a while from one to the other.
 */

/** A context in the tree of a simulated program. */
export class SimContext {
  readonly coreContext: CoreContext<SimJob>;
  readonly depth: number;
  readonly node = "sim";
  readonly key = undefined;
  readonly shape = { cls: SimContext, anonymous: false };
  readonly #children = new Map<string, SimContext>();

  constructor(
    readonly name: string,
    readonly parent: SimContext | null = null,
  ) {
    this.coreContext = new CoreContext(parent?.coreContext ?? null);
    this.depth = parent === null ? 0 : parent.depth + 1;
  }

  child(name: string): SimContext {
    let child = this.#children.get(name);
    if (child === undefined) {
      child = new SimContext(name, this);
      this.#children.set(name, child);
    }
    return child;
  }

  toString(): string {
    return this.parent === null ? this.name : `${this.parent}.${this.name}`;
  }
}

export interface SimJob {
  readonly context: SimContext;
  readonly costMs: number;
  /** When it was asked for. */
  readonly askedMs: number;
  /** It migrates its context instead of doing work. */
  readonly moveTo?: number | undefined;
  /** When it came to its host. */
  arrivedMs: number;
}

/** What the parts of the machine take, in milliseconds. */
export interface Costs {
  /** The head's work when an event comes in, and when it is done. */
  readonly headInMs: number;
  readonly headOutMs: number;
  /** A host's work for an event besides the event's own. */
  readonly hostMs: number;
  /** One way between the head and a host. */
  readonly wireMs: number;
}

export interface InTimeOptions {
  readonly costs: Costs;
  readonly commitOrder?: CommitOrder | undefined;
  /** On which host a context is. */
  hostOf(context: SimContext): number;
  /** An event has been answered. */
  answered(job: SimJob, nowMs: number): void;
  /** An event ran on a host, from then to now. */
  ran?(job: SimJob, host: number, beganMs: number, nowMs: number): void;
  /** What a migration takes on the hosts that it leaves and comes to. */
  moved?(job: SimJob): void;
}

/** One that does one thing at a time, in the order of their coming. */
class Server {
  freeMs = 0;
  busyMs = 0;

  /** When something that comes now and takes so long is done. */
  take(nowMs: number, costMs: number): number {
    this.freeMs = Math.max(this.freeMs, nowMs) + costMs;
    this.busyMs += costMs;
    return this.freeMs;
  }
}

interface Happening {
  readonly atMs: number;
  /** Of two at the same time, the earlier planned one. */
  readonly number: number;
  happen(): void;
}

const DONE: Outcome<SimJob> = { failed: false, starts: [], messages: [] };

export class InTime {
  readonly head = new Server();
  readonly hosts = new Map<number, Server>();
  readonly #core: Core<SimJob>;
  readonly #options: InTimeOptions;
  readonly #agenda = new Agenda();
  #nowMs = 0;

  constructor(options: InTimeOptions) {
    this.#options = options;
    this.#core = new Core(options.commitOrder === undefined ? {} : { commitOrder: options.commitOrder });
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  get unfinished(): number {
    return this.#core.unfinished;
  }

  at(atMs: number, happen: () => void): void {
    this.#agenda.add(Math.max(atMs, this.#nowMs), happen);
  }

  /** Asks for an event now. */
  request(context: SimContext, costMs: number, mode: "read" | "write" = "write", moveTo?: number): void {
    const job: SimJob = { context, costMs, askedMs: this.#nowMs, moveTo, arrivedMs: 0 };
    this.at(this.head.take(this.#nowMs, this.#options.costs.headInMs), () => {
      this.#core.request({ context: context.coreContext, mode, views: [], payload: job });
      this.#pump();
    });
  }

  /** Lets time pass until nothing is left to happen, or until then. */
  run(untilMs = Number.POSITIVE_INFINITY): void {
    for (
      let next = this.#agenda.first;
      next !== undefined && next.atMs <= untilMs;
      next = this.#agenda.first
    ) {
      this.#agenda.removeFirst();
      this.#nowMs = next.atMs;
      next.happen();
    }
    if (untilMs !== Number.POSITIVE_INFINITY) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #pump(): void {
    while (this.#core.hasWork) {
      const ready = this.#core.ready();
      for (let entry = ready.nextToEnter(); entry !== null; entry = ready.nextToEnter())
        this.#start(entry.event);
      this.#core.journaled(ready.append);
      for (let event = ready.nextSettled(); event !== null; event = ready.nextSettled())
        this.#options.answered(event.payload, this.#nowMs);
    }
  }

  #start(event: CoreEvent<SimJob>): void {
    const { wireMs } = this.#options.costs;
    this.at(this.#nowMs + wireMs, () => this.#arrive(event));
  }

  #arrive(event: CoreEvent<SimJob>): void {
    const { costs, hostOf, ran, moved } = this.#options;
    const job = event.payload;
    const host = hostOf(job.context);
    job.arrivedMs = this.#nowMs;
    const server = this.#server(host);
    const beganMs = Math.max(server.freeMs, this.#nowMs);
    const doneMs = server.take(this.#nowMs, costs.hostMs + job.costMs);
    this.at(doneMs, () => {
      ran?.(job, host, beganMs, doneMs);
      if (job.moveTo === undefined) return this.#return(event);
      const there = this.#server(job.moveTo).take(doneMs + costs.wireMs, costs.hostMs + job.costMs);
      this.at(there, () => {
        moved?.(job);
        this.#return(event);
      });
    });
  }

  #return(event: CoreEvent<SimJob>): void {
    const { wireMs, headOutMs } = this.#options.costs;
    const doneMs = this.head.take(this.#nowMs + wireMs, headOutMs);
    this.at(doneMs, () => {
      this.#core.finish(event, DONE);
      this.#pump();
    });
  }

  #server(host: number): Server {
    let server = this.hosts.get(host);
    if (server === undefined) {
      server = new Server();
      this.hosts.set(host, server);
    }
    return server;
  }
}

/** What is to happen, the earliest first: a binary heap. */
class Agenda {
  readonly #heap: Happening[] = [];
  #planned = 0;

  get first(): Happening | undefined {
    return this.#heap[0];
  }

  add(atMs: number, happen: () => void): void {
    this.#planned += 1;
    const own: Happening = { atMs, number: this.#planned, happen };
    let at = this.#heap.push(own) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(own, parent); parent = (at - 1) >> 1) {
      this.#heap[at] = this.#heap[parent] as Happening;
      at = parent;
    }
    this.#heap[at] = own;
  }

  removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let at = 0;
    for (
      let child = this.#child(at);
      child < this.#heap.length && !this.#isBefore(last, child);
      child = this.#child(at)
    ) {
      this.#heap[at] = this.#heap[child] as Happening;
      at = child;
    }
    this.#heap[at] = last;
  }

  /** The earlier one of the two below. */
  #child(at: number): number {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const other = this.#heap[right];
    return other !== undefined && this.#isBefore(other, left) ? right : left;
  }

  #isBefore({ atMs, number }: Happening, index: number): boolean {
    const other = this.#heap[index] as Happening;
    return atMs < other.atMs || (atMs === other.atMs && number < other.number);
  }
}
