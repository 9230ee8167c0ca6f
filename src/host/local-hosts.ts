import type { Placement } from "../elastic/placement.js";
import { HeadwaterError } from "../errors.js";
import type { ContextSample } from "./context-loads.js";
import type { HostLoad } from "./fleet.js";
import type { Aside, HostLink, HostReport, HostTask, OpenLink, Running } from "./host-link.js";
import { HeadLine } from "./line.js";
import type { MeasuredHosts } from "./meter.js";
import type { Patience } from "./patience.js";
import type { Program } from "./program.js";
import type { Hosts } from "./remote.js";
import type { Slot } from "./slot.js";
import type { ToHost } from "./wire.js";

/** A host that ends so often before it is ready is not replaced again. */
const STARTS_IN_VAIN_MAX = 5;

/** One life of a host. */
interface Host {
  readonly life: number;
  /** Which host it is; null while it is the spare one. */
  number: number | null;
  readonly link: HostLink;
  readonly line: HeadLine;
  isReady: boolean;
  /** Has nobody relied on it yet? Then nothing is lost with it. */
  isNew: boolean;
  /** How it was doing when it last said so. */
  report: HostReport | null;
  beatSent: number;
  beatHeard: number;
  /** For how long it has not answered. */
  silentMs: number;
  /** What it was at when it was last asked, if it said so. */
  running: Running | null;
}

/** The hosts of a program on this machine, as threads or processes. */
export class LocalHosts implements Hosts, MeasuredHosts {
  readonly #open: OpenLink;
  readonly #task: HostTask;
  readonly #patience: Patience;
  readonly placement: Placement;
  readonly #hosts = new Map<number, Host>();
  #program: Program | null = null;
  /** How often a host was started since it was last ready. */
  readonly #vain = new Map<number, number>();
  /** With a journal, one more that has loaded the program and takes the place of the next that is lost. */
  #spare: Host | null = null;
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
    try {
      await Promise.all(placement.hosts.map((host) => hosts.begin(host)));
    } catch (error) {
      await hosts.close();
      throw error;
    }
    return hosts;
  }

  /** Whose events run here. */
  serve(program: Program): void {
    this.#program = program;
    this.#watch = setInterval(() => this.#look(), this.#patience.lookMs).unref();
    this.#keepSpare();
  }

  #keepSpare(): void {
    if (!this.#task.isDurable || this.#isClosed) return;
    this.#spare = this.#launch(null, {
      ready: () => {},
      lost: () => {},
    });
  }

  /** Starts a host; resolves when it has loaded the program. */
  async begin(host: number): Promise<void> {
    if (this.#isClosed)
      throw new HeadwaterError("HW-1401", "the service has stopped and starts no more hosts.");
    await this.#begin(host, true);
  }

  #begin(host: number, isNew: boolean): Promise<void> {
    return new Promise((ready, lost) => {
      const begun = this.#launch(host, { ready, lost });
      begun.isNew = isNew;
      this.#hosts.set(host, begun);
    });
  }

  #launch(number: number | null, on: { ready: () => void; lost: (why: Error) => void }): Host {
    this.#lives += 1;
    const link = this.#open(this.#task, {
      batch: (bytes) => {
        if (this.#isCurrent(launched)) launched.line.receive(bytes);
      },
      aside: (aside) => this.#heard(launched, aside, on.ready),
      lost: (why) => {
        on.lost(why);
        if (this.#spare === launched)
          this.#spare = null; // the next one that is lost takes longer to replace
        else this.#lost(launched, why);
      },
    });
    const line = new HeadLine({
      roots: () => this.#program?.roots ?? new Map(),
      post: (bytes) => link.post(bytes),
      take: (message) => this.#program?.node(message.node).heard(launched.number ?? 0, message),
    });
    const watched = { isReady: false, isNew: false, beatSent: 0, beatHeard: 0, silentMs: 0 };
    const said = { report: null, running: null };
    const launched: Host = { life: this.#lives, number, link, line, ...watched, ...said };
    return launched;
  }

  #isCurrent(host: Host): boolean {
    return host.number !== null && this.#hosts.get(host.number) === host;
  }

  #heard(host: Host, aside: Aside, ready: () => void): void {
    if (aside.kind === "beat") host.beatHeard = aside.beat;
    if (aside.kind === "load") host.report = aside;
    if (aside.kind !== "ready") return;
    host.isReady = true;
    host.isNew = false;
    if (host.number !== null) this.#vain.delete(host.number);
    ready();
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
    } else void this.#begin(number, false).catch(() => {});
    if (this.#spare === null) this.#keepSpare();
  }

  /** Time is counted in looks, not by the clock: while the head itself does not get to look, nobody is late. */
  #look(): void {
    const { lookMs, hostMs } = this.#patience;
    for (const [host, each] of this.#hosts) {
      if (!each.isReady) continue;
      if (each.beatHeard === each.beatSent) {
        each.silentMs = 0;
        each.running = null;
        each.beatSent += 1;
        each.link.tell({ kind: "beat", beat: each.beatSent });
      } else this.#silent(host, each, lookMs);
      if (each.silentMs < hostMs) continue;
      each.link.kill();
      this.#lost(each, new Error(`its event loop was blocked for ${each.silentMs} ms`));
    }
    const isSilent = (host: number) => (this.#hosts.get(host)?.silentMs ?? 0) > 0;
    for (const node of this.#program?.nodes.values() ?? []) node.slow?.look(this.#patience, isSilent);
  }

  #silent(host: number, each: Host, lookMs: number): void {
    each.silentMs += lookMs;
    each.link.running((running) => {
      each.running = running;
      const nodes = [...(this.#program?.nodes.values() ?? [])];
      if (running === null || each.silentMs < this.#patience.eventMs) return;
      nodes[running[0]]?.slow?.blocks(running[1], host, each.silentMs);
    });
  }

  /** A host that is out of memory says so, and ends after that: it is lost once. */
  #lost(lost: Host, why: Error): void {
    const { number } = lost;
    if (this.#isClosed || this.#program === null || number === null || !this.#isCurrent(lost)) return;
    this.#hosts.delete(number);
    if (lost.isNew) return;
    const nodes = [...this.#program.nodes.values()];
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
      const culprit = lost.running === null ? null : lost.running[0] === index ? lost.running[1] : 0;
      if (this.#task.isDurable) node.hostLost(number, culprit);
      else node.eventsLost(number, error);
    }
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
