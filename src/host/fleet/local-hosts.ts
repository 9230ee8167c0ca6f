import type { Placement } from "../../elastic/placement.js";
import { HeadwaterError } from "../../errors.js";
import type { HostFact, MigrationFact } from "../../observe/index.js";
import type { Slot } from "../context/index.js";
import { type Hosts, type Moving, Quarantine } from "../head/index.js";
import { type Aside, type HostTask, NotSpawned, type OpenLink, spawnDelayMs } from "../link/index.js";
import type { ContextSample, MeasuredHosts } from "../load/index.js";
import type { LogicalNode, Program } from "../node/index.js";
import type { Patience } from "../ports/index.js";
import { HeadLine, type ToHost } from "../wire/index.js";
import type { HostLoad, HostStatus } from "./fleet.js";
import { type Awaited, HostLife } from "./host-life.js";
import { culpritOf, lateWarning, lostWarning, notStarted, spawnWarning, whatRan } from "./lost-host.js";

/** A host that ends so often before it is ready is not replaced again. */
const STARTS_IN_VAIN_MAX = 5;

/** The hosts of a program on this machine, as threads or processes. */
export class LocalHosts implements Hosts, MeasuredHosts {
  readonly #open: OpenLink;
  readonly #task: HostTask;
  readonly #patience: Patience;
  readonly placement: Placement;
  readonly quarantine = new Quarantine();
  readonly #hosts = new Map<number, HostLife>();
  #program: Program | null = null;
  /** How often a host was started since it was last ready. */
  readonly #vain = new Map<number, number>();
  readonly #restarts = new Map<number, number>();
  /** How often a host could not be spawned since one was, and what waits for its next try. */
  readonly #unspawned = new Map<number, { failures: number; retry: NodeJS.Timeout }>();
  /** With a journal, one more that has loaded the program and takes the place of the next that is lost. */
  #spare: HostLife | null = null;
  /** A host was lost before there was a program that could do without it. */
  #lostEarly: Error | null = null;
  /** From where contexts move, which is known only before they have. */
  readonly #movedFrom = new WeakMap<Moving, number>();
  #lives = 0;
  #isClosed = false;
  #watch: NodeJS.Timeout | null = null;

  private constructor(open: OpenLink, task: HostTask, placement: Placement, patience: Patience) {
    this.#open = open;
    this.#task = task;
    this.#patience = patience;
    this.placement = placement;
  }

  /** Starts hosts that have loaded the program. */
  static async start(
    open: OpenLink,
    task: HostTask,
    placement: Placement,
    patience: Patience,
  ): Promise<LocalHosts> {
    const hosts = new LocalHosts(open, task, placement, patience);
    hosts.#watch = setInterval(() => hosts.#look(), patience.lookMs).unref();
    try {
      await Promise.all(placement.hosts.map((host) => hosts.begin(host)));
      if (hosts.#lostEarly !== null) throw hosts.#lostEarly;
    } catch (error) {
      await hosts.close();
      throw error;
    }
    return hosts;
  }

  /** Whose events run here. */
  serve(program: Program): void {
    this.#program = program;
    this.#keepSpare();
  }

  #keepSpare(): void {
    if (!this.#task.isDurable || this.#isClosed) return;
    this.#spare = this.#launch(null, NOBODY);
  }

  /** Starts a host; resolves when it has loaded the program. */
  async begin(host: number): Promise<void> {
    if (this.#isClosed) throw stopped();
    try {
      await new Promise<void>((ready, lost) => {
        this.#begin(host, { ready, lost }).isNew = true;
      });
    } catch (why) {
      throw this.#isClosed ? stopped() : notStarted(host, why as Error);
    }
  }

  #begin(host: number, awaited: Awaited): HostLife {
    const begun = this.#launch(host, awaited);
    this.#hosts.set(host, begun);
    return begun;
  }

  #launch(number: number | null, awaited: Awaited): HostLife {
    this.#lives += 1;
    const link = this.#open(this.#task, {
      batch: (bytes) => {
        if (this.#isCurrent(launched)) launched.line.receive(bytes);
      },
      aside: (aside) => this.#heard(launched, aside),
      lost: (why) => this.#lost(launched, why),
    });
    const line = new HeadLine({
      roots: () => this.#program?.roots ?? new Map(),
      messageBytes: this.#task.limits.messageBytes,
      post: (bytes) => link.post(bytes),
      take: (message) => this.#program?.node(message.node).heard(launched.number ?? 0, message),
    });
    const launched = new HostLife(this.#lives, number, link, line, awaited);
    return launched;
  }

  #isCurrent(host: HostLife): boolean {
    return host.number !== null && this.#hosts.get(host.number) === host;
  }

  #heard(host: HostLife, aside: Aside): void {
    if (host.isLost) return;
    if (aside.kind === "beat") host.beat(aside.beat);
    if (aside.kind === "load") host.report = aside;
    if (aside.kind === "warns") this.#program?.warn(HeadwaterError.restored(aside.code, aside.message));
    if (aside.kind !== "ready") return;
    host.isReady = true;
    if (host.number !== null) this.#note(host.number, "joined");
    host.isNew = false;
    if (host.number !== null) {
      this.#vain.delete(host.number);
      this.#unspawned.delete(host.number);
    }
    host.awaited.ready();
  }

  /** Puts another in the place of a host that is lost. */
  #replace(number: number): void {
    const spare = this.#spare;
    this.#vain.set(number, (this.#vain.get(number) ?? 0) + 1);
    this.#restarts.set(number, (this.#restarts.get(number) ?? 0) + 1);
    if (spare?.isReady) {
      spare.number = number;
      this.#hosts.set(number, spare);
      this.#vain.delete(number);
      this.#note(number, "joined");
      this.#keepSpare();
    } else this.#begin(number, NOBODY);
    if (this.#spare === null) this.#keepSpare();
  }

  #look(): void {
    for (const host of [...this.#hosts.values(), ...(this.#spare === null ? [] : [this.#spare])]) {
      const why = host.look(this.#patience);
      if (host.silentMs > 0) this.#silent(host);
      if (why === null) continue;
      this.#lost(host, why);
      host.link.kill();
    }
    for (const [number, host] of this.#hosts)
      if (host.isReady && host.silentMs === 0) this.quarantine.look(number);
    const unable = [...this.#hosts].filter(([, host]) => !host.isReady || host.silentMs > 0);
    for (const [index, node] of this.#nodes.entries()) {
      node.remote?.slow.look(
        this.#patience,
        new Map(unable.map(([number, host]) => [number, culpritOf(host, index)])),
      );
    }
    for (const [number, host] of unable) if (!host.isReady) this.#starting(number, host);
  }

  #starting(number: number, host: HostLife): void {
    if (host.isReportedLate || host.startingMs < this.#patience.eventMs) return;
    const warning = lateWarning(number, host.startingMs, this.#nodes);
    if (warning === null) return;
    host.isReportedLate = true;
    this.#program?.warn(warning);
  }

  get #nodes(): LogicalNode[] {
    return [...(this.#program?.nodes.values() ?? [])];
  }

  #silent(host: HostLife): void {
    host.link.running((running) => {
      host.running = running;
      if (running === null || host.number === null || host.silentMs < this.#patience.eventMs) return;
      this.#nodes[running[0]]?.remote?.slow.blocks(running[1], host.number, host.silentMs);
    });
  }

  #lost(lost: HostLife, why: Error): void {
    if (lost.isLost) return;
    lost.isLost = true;
    lost.awaited.lost(why);
    if (this.#isClosed) return;
    if (lost === this.#spare) return this.#spareLost(lost, why);
    const { number } = lost;
    if (number === null || !this.#isCurrent(lost)) return;
    if (why instanceof NotSpawned && this.#program !== null && !lost.isNew)
      return this.#spawnLater(lost, number, why, this.#program);
    this.#hosts.delete(number);
    if (lost.isNew) return;
    this.#note(number, "lost", why.message);
    if (this.#program === null) {
      this.#lostEarly ??= notStarted(number, why);
      return;
    }
    const nodes = this.#nodes;
    lost.link.running((running) => {
      lost.running ??= running;
    });
    const ran = whatRan(lost, nodes);
    const ended = `host ${number} has ended (${why.message}${ran})`;
    if (!this.#task.isDurable && nodes.some(({ remote }) => remote?.hasState(lost.life))) {
      return this.#giveUp(`${ended}, and with it the contexts that it had: there is no journal.`, why);
    }
    const inVain = this.#vain.get(number) ?? 0;
    if (inVain === STARTS_IN_VAIN_MAX) {
      return this.#giveUp(
        `${ended} ${inVain} times before it was ready, so it is not replaced any more.`,
        why,
      );
    }
    this.#replace(number);
    const then = this.#task.isDurable ? "starts again" : "fails with HW-6004";
    this.#program.warn(lostWarning(lost, why, ran, `It is replaced; what was under way there ${then}.`));
    const what = `host ${number} has ended (${why.message}) while this event was running there.`;
    const error = new HeadwaterError("HW-6004", what, { cause: why });
    for (const [index, node] of nodes.entries()) {
      if (this.#task.isDurable) node.hostLost(number, culpritOf(lost, index), why.message);
      else node.eventsLost(number, error);
    }
    this.quarantine.replaced(number);
  }

  /** Until the next try, the life that never began stays in its place: what is sent there starts again after it. */
  #spawnLater(lost: HostLife, number: number, why: Error, program: Program): void {
    const failures = (this.#unspawned.get(number)?.failures ?? 0) + 1;
    const delayMs = spawnDelayMs(failures);
    const retry = setTimeout(() => {
      if (!this.#isCurrent(lost) || this.#isClosed) return;
      this.#begin(number, NOBODY);
      for (const node of this.#nodes) node.hostLost(number, 0, why.message);
    }, delayMs);
    this.#unspawned.set(number, { failures, retry });
    program.warn(spawnWarning(number, why, failures, delayMs));
  }

  /** One that never got so far is not tried again before the next host is replaced. */
  #spareLost(spare: HostLife, why: Error): void {
    this.#spare = null;
    if (spare.isReady) this.#keepSpare();
    const then = spare.isReady ? "It is replaced." : "It is started again when the next host is lost.";
    this.#program?.warn(lostWarning(spare, why, "", then));
  }

  #giveUp(what: string, cause: Error): void {
    this.#program?.journalFailed(new HeadwaterError("HW-6001", what, { cause }));
  }

  #note(host: number, what: HostFact["what"], why: string | null = null): void {
    this.#program?.feed.note({ kind: "host", host, what, why });
  }

  migrating(move: Moving, step: MigrationFact["step"]): void {
    const { slot, to } = move;
    const from = this.#movedFrom.get(move) ?? this.placement.of(slot);
    this.#movedFrom.set(move, from);
    const feed = this.#program?.feed;
    if (feed?.wants("migration"))
      feed.note({ kind: "migration", node: slot.node, context: String(slot), from, to, step });
  }

  of(slot: Slot): number {
    return this.placement.of(slot);
  }

  life(host: number): number {
    return this.#hosts.get(host)?.life ?? 0;
  }

  status(host: number): HostStatus | null {
    const there = this.#hosts.get(host);
    if (there === undefined) return null;
    return { isReady: there.isReady, restarts: this.#restarts.get(host) ?? 0 };
  }

  send(host: number, message: ToHost): void {
    this.#hosts.get(host)?.line.send(message);
  }

  load(host: number): HostLoad | null {
    return this.#hosts.get(host)?.report?.load ?? null;
  }

  samples(host: number): readonly ContextSample[] {
    return this.#hosts.get(host)?.report?.samples ?? [];
  }

  /** Ends a host that nobody needs any more. */
  async end(host: number): Promise<void> {
    const ended = this.#hosts.get(host);
    this.#hosts.delete(host);
    this.#note(host, "removed");
    this.quarantine.forget(host);
    await ended?.link.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    for (const { retry } of this.#unspawned.values()) clearTimeout(retry);
    const all = [...this.#hosts.values(), ...(this.#spare === null ? [] : [this.#spare])];
    this.#hosts.clear();
    await Promise.all(all.map(({ link }) => link.close()));
  }
}

/** Nobody waits for it. */
const NOBODY: Awaited = { ready: () => {}, lost: () => {} };

function stopped(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the service has stopped and starts no more hosts.");
}
