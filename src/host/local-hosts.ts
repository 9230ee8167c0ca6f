import type { Placement } from "../elastic/placement.js";
import { HeadwaterError } from "../errors.js";
import type { ContextSample } from "./context-loads.js";
import type { HostLoad } from "./fleet.js";
import { type Awaited, HostLife } from "./host-life.js";
import type { Aside, HostTask, OpenLink } from "./host-link.js";
import { HeadLine } from "./line.js";
import type { MeasuredHosts } from "./meter.js";
import type { LogicalNode } from "./node.js";
import type { Patience } from "./patience.js";
import type { Program } from "./program.js";
import type { Hosts } from "./remote.js";
import type { Slot } from "./slot.js";
import type { ToHost } from "./wire.js";

/** A host that ends so often before it is ready is not replaced again. */
const STARTS_IN_VAIN_MAX = 5;

/** The hosts of a program on this machine, as threads or processes. */
export class LocalHosts implements Hosts, MeasuredHosts {
  readonly #open: OpenLink;
  readonly #task: HostTask;
  readonly #patience: Patience;
  readonly placement: Placement;
  readonly #hosts = new Map<number, HostLife>();
  #program: Program | null = null;
  /** How often a host was started since it was last ready. */
  readonly #vain = new Map<number, number>();
  /** With a journal, one more that has loaded the program and takes the place of the next that is lost. */
  #spare: HostLife | null = null;
  /** A host was lost before there was a program that could do without it. */
  #lostEarly: Error | null = null;
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
    if (aside.kind !== "ready") return;
    host.isReady = true;
    host.isNew = false;
    if (host.number !== null) this.#vain.delete(host.number);
    host.awaited.ready();
  }

  /** Puts another in the place of a host that is lost. */
  #replace(number: number): void {
    const spare = this.#spare;
    this.#vain.set(number, (this.#vain.get(number) ?? 0) + 1);
    if (spare?.isReady) {
      spare.number = number;
      this.#hosts.set(number, spare);
      this.#vain.delete(number);
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
    const unable = [...this.#hosts].filter(([, host]) => !host.isReady || host.silentMs > 0);
    for (const [index, node] of this.#nodes.entries()) {
      node.slow?.look(
        this.#patience,
        new Map(unable.map(([number, host]) => [number, culpritOf(host, index)])),
      );
    }
    for (const [number, host] of unable) if (!host.isReady) this.#starting(number, host);
  }

  /** Events that wait for a host that takes long to start are not to blame: it is said once, for all of them. */
  #starting(number: number, host: HostLife): void {
    if (host.isReportedLate || host.startingMs < this.#patience.eventMs) return;
    const waiting = this.#nodes.flatMap(({ slow }) => slow?.waitingFor(number) ?? []);
    const count = waiting.reduce((sum, each) => sum + each.count, 0);
    if (count === 0) return;
    host.isReportedLate = true;
    const one = waiting.find((each) => each.one !== null)?.one;
    const who = count === 1 ? `${one} waits for it` : `${count} events wait for it, ${one} among them`;
    const what = `host ${number} has been starting for ${host.startingMs} ms, and ${who}.`;
    this.#program?.warn(new HeadwaterError("HW-6006", what));
  }

  get #nodes(): LogicalNode[] {
    return [...(this.#program?.nodes.values() ?? [])];
  }

  #silent(host: HostLife): void {
    host.link.running((running) => {
      host.running = running;
      if (running === null || host.number === null || host.silentMs < this.#patience.eventMs) return;
      this.#nodes[running[0]]?.slow?.blocks(running[1], host.number, host.silentMs);
    });
  }

  #lost(lost: HostLife, why: Error): void {
    if (lost.isLost) return;
    lost.isLost = true;
    lost.awaited.lost(why);
    if (this.#isClosed) return;
    if (lost === this.#spare) return this.#spareLost(lost);
    const { number } = lost;
    if (number === null || !this.#isCurrent(lost)) return;
    this.#hosts.delete(number);
    if (lost.isNew) return;
    if (this.#program === null) {
      this.#lostEarly ??= notStarted(number, why);
      return;
    }
    const nodes = this.#nodes;
    const ended = `host ${number} has ended (${why.message})`;
    if (!this.#task.isDurable && nodes.some((node) => node.hasState(lost.life))) {
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
    lost.link.running((running) => {
      lost.running ??= running;
    });
    const error = new HeadwaterError("HW-6004", `${ended} while this event was running there.`, {
      cause: why,
    });
    for (const [index, node] of nodes.entries()) {
      const culprit = culpritOf(lost, index);
      if (this.#task.isDurable) node.hostLost(number, culprit);
      else node.eventsLost(number, error);
    }
  }

  /** One that never got so far is not tried again before the next host is replaced. */
  #spareLost(spare: HostLife): void {
    this.#spare = null;
    if (spare.isReady) this.#keepSpare();
  }

  #giveUp(what: string, cause: Error): void {
    this.#program?.journalFailed(new HeadwaterError("HW-6001", what, { cause }));
  }

  of(slot: Slot): number {
    return this.placement.of(slot);
  }

  life(host: number): number {
    return this.#hosts.get(host)?.life ?? 0;
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
    await ended?.link.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    const all = [...this.#hosts.values(), ...(this.#spare === null ? [] : [this.#spare])];
    await Promise.all(all.map(({ link }) => link.close()));
  }
}

/** Nobody waits for it. */
const NOBODY: Awaited = { ready: () => {}, lost: () => {} };

/** Which event of a logical node has ended its host: none if that was not ready yet, and null if nobody knows. */
function culpritOf({ isReady, running }: HostLife, node: number): number | null {
  if (!isReady) return 0;
  if (running === null) return null;
  return running[0] === node ? running[1] : 0;
}

function stopped(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the service has stopped and starts no more hosts.");
}

/** Headwater's own errors, from loading the program there, say enough. */
function notStarted(host: number, why: Error): Error {
  if ("code" in why && String(why.code).startsWith("HW-")) return why;
  const what = `host ${host} could not be started: ${why.message}. Look for what its module does when a host loads it.`;
  return new HeadwaterError("HW-6008", what, { cause: why });
}
