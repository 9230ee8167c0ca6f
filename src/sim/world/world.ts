import { OPTIMISTIC_ATTEMPTS } from "../../core/dependencies.js";
import type { CoreEvent } from "../../core/event.js";
import { HeadwaterError, invariant } from "../../errors.js";
import type { EventRequest } from "../../host/event/index.js";
import { Program } from "../../host/node/index.js";
import { DEFAULT_LIMITS, type Ports } from "../../host/ports/index.js";
import type { OutsideCall } from "../../model/outside.js";
import { type Random, TraceHash } from "../../random.js";
import { type BuiltProgram, digest } from "../programs/index.js";
import { WorldAsking } from "./asking.js";
import { Cluster } from "./cluster.js";
import { GeneratedOutside } from "./generated-outside.js";
import { Recorder } from "./recorder.js";
import { WorkloadRequests } from "./requests.js";
import { exceptEvery, Soon } from "./soon.js";
import { Storage } from "./storage.js";
import { VirtualTimers } from "./virtual-timers.js";
import { worldPorts } from "./world-ports.js";
import type { Visitors, WorldOptions, WorldRequest, WorldRun } from "./world-run.js";

/** Something that can happen next. */
interface Possible {
  readonly what: string;
  happen(): void;
}

const TURNS_TO_SETTLE = 12;
const BURST_MAX = 4;
const OWN_ACCORD = "an event restarted itself";
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
  readonly #soon = new Soon();
  readonly #journal: (() => void)[] = [];
  readonly #timers = new VirtualTimers();
  readonly #workload: WorldRequest[];
  readonly #visitors: Visitors | null;
  readonly #roots: BuiltProgram["roots"];
  readonly #options: WorldOptions;
  readonly #againBefore: number;
  readonly #recorder: Recorder;
  readonly #requests: WorkloadRequests;
  readonly #storage: Storage | null;
  readonly #asking: WorldAsking;
  #program: Program;
  #cluster: Cluster | null = null;
  #life = 0; // counts the processes that the program has run in
  #isDown = false; // is there none at the moment? Code of the last one may still be about to find out
  /** How likely a message arrives twice; how eager pumps and calls are. Drawn per seed, so that seeds differ in kind. */
  readonly #duplicates: number;
  readonly #lazy: boolean;
  readonly #runsNow: () => boolean;
  /** How much of a context travels at once. */
  readonly #pieceBytes: number;
  /** How many timers are read from the journal at a time. */
  readonly #timersAtOnce: number;
  readonly #clockJumps: boolean; // is the machine's clock set now and then?
  #clockOffMs = 0;
  #time = 1_000_000;
  #step = 0;
  #broken: unknown;
  readonly #generatedOutside = new GeneratedOutside(
    () => this.#random,
    () => this.#life,
    {
      recorded: (position, result) => this.#recorder.outside(position, result),
      pause: (units) => this.pause(units),
      broken: (error) => {
        this.#broken ??= error;
      },
    },
  );

  constructor(
    built: Pick<BuiltProgram, "roots">,
    workload: readonly WorldRequest[],
    random: Random,
    options: WorldOptions,
  ) {
    this.#random = random;
    this.#workload = [...workload];
    this.#visitors = options.visitors ?? null;
    this.#duplicates = random.chance(0.5) ? 0.2 : 0;
    this.#lazy = random.chance(0.3);
    this.#pieceBytes = options.hosts ? random.pick([1, 2000, 100_000]) : DEFAULT_LIMITS.pieceBytes;
    this.#timersAtOnce = random.pick([1, 3, 1000]);
    this.#clockJumps = random.chance(0.3) && options.visitors?.clockJumps !== false;
    this.#runsNow = exceptEvery(random.pick([1, 2, 1000]));
    this.#roots = built.roots;
    this.#options = options;
    this.#againBefore = options.marks.count(OWN_ACCORD);
    this.#requests = new WorkloadRequests(this.#workload, (index) => this.#plan(index));
    this.#recorder = new Recorder(
      () => this.#step,
      () => this.#program.now(),
      (request) => this.#requests.madeAt(request),
      options.commitOrder,
    );
    const isDurable = options.crashes || options.visitors !== undefined;
    this.#storage = isDurable ? new Storage(random, this.#recorder, options) : null;
    this.#asking = new WorldAsking({
      workload: this.#workload,
      requests: this.#requests,
      recorder: this.#recorder,
      storage: this.#storage,
      visitors: this.#visitors,
      random,
      program: () => this.#program,
      life: () => this.#life,
      step: () => this.#step,
      later: (what, happen) => this.#adder()(what, happen),
      plan: (index) => this.#plan(index),
      planAfter: (ms, index) => this.#timers.set(this.#time + ms, () => this.#plan(index)),
    });
    this.#program = this.#begin();
    this.#requests.begin();
  }

  /** A process starts. */
  #begin(): Program {
    this.#life += 1;
    const { commitOrder, marks, plant } = this.#options;
    const ports = this.#ports();
    const classes = () => this.#visitors?.classes() ?? this.#roots;
    const limits = { ...DEFAULT_LIMITS, pieceBytes: this.#pieceBytes, timers: this.#timersAtOnce };
    if (this.#options.hosts) {
      this.#cluster = new Cluster({
        classes,
        random: this.#random,
        marks,
        plant,
        limits,
        isDurable: this.#storage !== null,
        later: this.#adder(),
        soon: ports.soon,
        atRest: ports.atRest,
        broken: ports.broken,
        within: (task) => this.#within(task),
        program: () => this.#program,
        lostAlone: (node, ticket) => this.#recorder.lostAlone(node, ticket),
      });
    }
    const program = new Program(classes(), ports, {
      commitOrder,
      limits,
      marks,
      plant,
      ledger: this.#storage?.open(this.#adder()) ?? null,
      unmadeInMemory: 1,
      runners: this.#cluster?.heads ?? null,
      onSettled: (event) => this.#settled(event),
    });
    const clients = new Set(this.#visitors?.clients ?? this.#workload.map(({ client }) => client));
    for (const client of clients) if (client !== null) this.#connect(program, client);
    return program;
  }

  #connect(program: Program, client: string): void {
    const add = this.#adder();
    const confirms = this.#storage === null ? "at once" : "later";
    const caller = program.clients.connect(
      client,
      (message, from) => {
        if (this.#recorder.wasTold(client, from)) this.#options.marks.hit("a client got a message again");
        else {
          this.#recorder.told(client, message, from);
          this.#visitors?.told(client, message);
        }
        if (confirms === "later") add("confirm", () => program.clients.received(caller, from));
      },
      confirms,
    );
  }

  async run(): Promise<WorldRun> {
    while (this.#possible.length > 0 || (await this.#somethingIsPossible()) || this.#storage?.hasFailed) {
      if (this.#storage?.isCrashDue()) {
        await this.#crash(this.#storage);
        if (this.#visitors?.endsAtCrash) break;
      }
      this.#cluster?.maybeCrash();
      this.#cluster?.maybeChange();
      this.#cluster?.maybeMove();
      // Some things happen so close together that no other code gets to react in between.
      for (let burst = this.#random.int(BURST_MAX); burst >= 0 && this.#possible.length > 0; burst--)
        this.#happen();
      await null;
      this.#catchUp();
      if (this.#soon.isAwaitingRest && this.#random.chance(0.5)) await this.#soon.comeToRest();
      if (this.#broken !== undefined) throw this.#broken;
      if (this.#step > (this.#visitors?.stepsMax ?? STEPS_MAX_PER_REQUEST * this.#workload.length)) break;
    }
    const stuck = this.#visitors?.endsAtCrash ? null : this.#stuck();
    if (stuck === null) this.#cluster?.check();
    if (this.#storage !== null) this.#program = this.#begin(); // what counts is what the next process would find
    const log = this.#recorder.finish(this.#program, this.#cluster?.sites ?? []);
    const contexts = this.#recorder.contexts(this.#program);
    return { log, hash: this.#hash.digest(), steps: this.#step, stuck, contexts };
  }

  /** A caller makes one more request, some time. */
  request(request: WorldRequest): number {
    const index = this.#workload.push(request) - 1;
    this.#requests.added();
    return index;
  }

  get now(): number {
    return this.#time;
  }

  /** Lets something happen after so much virtual time: what callers wait for, they wait for through crashes. Returns how to call it off. */
  after(ms: number, task: () => void, by: "program" | "caller"): () => void {
    if (by === "caller" || !this.#isDown) this.#timers.set(this.#time + ms, task, by);
    return () => this.#timers.delete(task);
  }

  /** Timers that are due later do not go off. */
  get #endsAt(): number {
    return this.#visitors?.endsAt(this.#program.outsideCalls > 0) ?? Number.MAX_VALUE;
  }

  /** The process ends in the middle of everything, and another one starts. Clients stay, and ask again. */
  async #crash(storage: Storage): Promise<void> {
    this.#life += 1;
    this.#isDown = true;
    this.#hash.add("crash");
    this.#program.journalFailed(new HeadwaterError("HW-1401", "the process has crashed."));
    this.#possible.splice(
      0,
      Number.POSITIVE_INFINITY,
      ...this.#possible.filter(({ what }) => what === "caller"),
    );
    this.#soon.clear();
    this.#timers.clear();
    await new Promise(setImmediate); // until all code of the old process has come to rest
    this.#isDown = false;
    this.#step += 1;
    this.#time += this.#random.int(1000);
    if (this.#clockJumps) this.#setClock();
    storage.crash();
    this.#recorder.crashed();
    this.#program = this.#begin();
    for (const lost of this.#requests.askAgain()) this.#recorder.lost(lost);
  }

  /** Lets one of the things happen that can. */
  #happen(): void {
    this.#dueTimers();
    const index = this.#random.int(this.#possible.length);
    const next = this.#possible[index] as Possible;
    const last = this.#possible.pop() as Possible;
    if (last !== next) this.#possible[index] = last;
    this.#step += 1;
    this.#time += this.#random.int(3);
    if (this.#clockJumps && this.#random.chance(0.01)) this.#setClock();
    this.#hash.add(next.what).add(index);
    next.happen();
  }

  #setClock(): void {
    this.#clockOffMs += this.#random.pick([-3_600_000, -300, -1, 1, 300, 3_600_000]);
  }

  /** Waits until something can happen, moving time to the next timer if need be. */
  async #somethingIsPossible(): Promise<boolean> {
    for (let turn = 0; turn < TURNS_TO_SETTLE && this.#possible.length === 0; turn++) {
      await null;
      this.#catchUp();
    }
    if (this.#possible.length > 0) return true;
    // Even the longest chain of promises must have come to rest before time passes or the run ends.
    const hasGoneOn = await this.#soon.comeToRest();
    if (this.#catchUp() || hasGoneOn || this.#possible.length > 0 || this.#soon.isAwaitingRest) return true;
    const next = this.#timers.next();
    if (next > this.#endsAt) return this.#cluster?.lookUntil(() => this.#possible.length > 0) ?? false;
    this.#time = Math.max(this.#time, next);
    this.#dueTimers();
    return true;
  }

  #dueTimers(): void {
    for (const task of this.#timers.takeDue(Math.min(this.#time, this.#endsAt)))
      this.#possible.push({ what: this.#timers.isOfCaller(task) ? "caller" : "timer", happen: task });
  }

  /** Runs code of the program that is part of an event. */
  #within(task: () => void): void {
    if (this.#visitors === null) task();
    else this.#visitors.within(task);
  }

  /** Takes time in the middle of a method. */
  pause(units: number): Promise<void> | undefined {
    if (units === 0) return undefined;
    return new Promise((resolve) => {
      if (this.#isDown) return; // for ever
      let left = units;
      const wait = () => {
        left -= 1;
        if (left === 0) resolve();
        else this.#possible.push({ what: "pause", happen: wait });
      };
      this.#possible.push({ what: "pause", happen: wait });
    });
  }

  /** Did a caller outside ask for the event that the host which runs code at this moment began last? */
  get isInRequest(): boolean {
    return this.#cluster?.isInRequest ?? true;
  }

  /** The code that runs at this moment ends its host, if it is on one that can be lost. */
  endsHost(): boolean {
    return this.#cluster?.endCurrent() ?? false;
  }

  /** What generated programs call outside. */
  outside(value: number, call: OutsideCall): Promise<number> {
    return this.#generatedOutside.call(value, call);
  }

  #plan(index: number): void {
    this.#possible.push({ what: "request", happen: () => this.#asking.ask(index) });
  }

  #settled(event: CoreEvent<EventRequest>): void {
    if (event.payload.migration !== null) return;
    const again = this.#options.marks.count(OWN_ACCORD) - this.#againBefore; // one may take others along
    const triesMax = OPTIMISTIC_ATTEMPTS + 1 + (this.#cluster?.hostsLost ?? 0) + again;
    invariant(event.attempt <= triesMax, `an event was tried ${event.attempt} times, not ${triesMax}`);
    const { ticket, result, origin } = this.#recorder.settled(event);
    this.#hash.add(ticket).add(result.ok ? digest(result.value) : result.error.message);
    if (origin.kind !== "request" && !result.ok)
      this.#visitors?.failed(
        `${event.payload.slot}.${event.payload.method.name}`,
        event.payload.execution?.value,
      );
    if (origin.kind === "request" && event.payload.request === undefined)
      this.#requests.answered(origin.request);
  }

  #stuck(): string | null {
    const open = [...this.#program.nodes.values()].filter((node) => !node.isQuiet);
    const events = open.map((node) => `${node.name}: ${node.unfinished} unfinished events`);
    return [...events, ...(this.#cluster?.stuck() ?? [])].join(", ") || null;
  }

  #catchUp(): boolean {
    return this.#soon.catchUp((error) => {
      this.#broken ??= error;
    });
  }

  /** Lets something happen some time, as long as the present process lasts. */
  #adder(): (what: string, happen: () => void) => void {
    const life = this.#life;
    return (what, happen) => {
      if (life === this.#life) this.#possible.push({ what, happen });
    };
  }

  #ports(): Ports {
    const life = this.#life;
    const began = this.#time; // a process knows nothing of the time before it
    const add = this.#adder();
    return worldPorts(add, {
      isAlive: () => life === this.#life,
      now: () => this.#time - began,
      timeOfDay: () => this.#time + this.#clockOffMs,
      unique: () => `process ${this.#life}`,
      soon: this.#soon,
      isLazy: this.#lazy,
      broken: (error) => {
        this.#broken ??= error;
      },
      setTimer: (time, task) => this.#timers.set(time + began, task),
      deleteTimer: (task) => this.#timers.delete(task),
      within: (task) => this.#within(task),
      runsNow: this.#runsNow,
      visitors: this.#visitors,
      random: this.#random,
      duplicates: this.#duplicates,
      journal: this.#journal,
    });
  }
}
