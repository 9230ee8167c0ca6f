import type { Placement } from "../../elastic/placement.js";
import { HeadwaterError } from "../../errors.js";
import type { HostFact, MigrationFact } from "../../observe/index.js";
import type { Slot } from "../context/index.js";
import { Heads, type Hosts, type Migration, Quarantine } from "../head/index.js";
import type { Aside, OpenLink } from "../link/index.js";
import type { ContextSample, MeasuredHosts } from "../load/index.js";
import type { Program } from "../node/index.js";
import type { HostId, Patience } from "../ports/index.js";
import type { ToHost } from "../wire/index.js";
import type { HostPool, HostStatus } from "./fleet.js";
import type { HostLife } from "./host-life.js";
import { culpritOf, lateWarning, lostWarning, notStarted, whatRan } from "./lost-host.js";
import type { HostLoad } from "./program-hosts.js";

/** Where hosts come from. */
export interface HostSupply {
  /** Starts a host and lets it join; resolves when it has loaded the program. */
  begin(host: HostId): Promise<void>;
  /** Lets a host join that has come by itself; resolves when it has loaded the program. */
  admit(host: HostId, open: OpenLink): Promise<void>;
  /** There is a program now, which can do without a host for a while. */
  serve(): void;
  /** How often the host was started since it was last ready, if that is too often; else null. */
  startsInVain(host: HostId): number | null;
  /** Lets another join in the place of a host that is lost. */
  replace(host: HostId): void;
  restarts(host: HostId): number;
  /** Hosts that wait until one is lost. */
  readonly spares: readonly HostLife[];
  /** Starts no more hosts. */
  close(): void;
}

/** The hosts of a program: which live, which are lost, and what is sent to them. How they are started is the supply's business. */
export class HostSet implements Hosts, HostPool, MeasuredHosts {
  readonly placement: Placement<HostId>;
  readonly quarantine = new Quarantine();
  readonly heads = new Heads(this);
  readonly #supply: HostSupply;
  readonly #patience: Patience;
  readonly #isDurable: boolean;
  readonly #hosts = new Map<HostId, HostLife>();
  #program: Program | null = null;
  /** From where contexts migrate, which is known only before they have. */
  readonly #movedFrom = new WeakMap<Migration, HostId>();
  /** A host was lost before there was a program that could do without it. */
  #lostEarly: Error | null = null;
  #isClosed = false;
  /** Hears that a host is gone and is not replaced, before its events start again elsewhere. */
  onGone: (host: HostId) => void = () => {};
  readonly #watch: NodeJS.Timeout;

  constructor(
    placement: Placement<HostId>,
    patience: Patience,
    isDurable: boolean,
    supplyOf: (hosts: HostSet) => HostSupply,
  ) {
    this.placement = placement;
    this.#patience = patience;
    this.#isDurable = isDurable;
    this.#supply = supplyOf(this);
    this.#watch = setInterval(() => this.#look(), patience.lookMs).unref();
  }

  /** Starts the hosts that the placement names. */
  async start(): Promise<void> {
    await Promise.all(this.placement.hosts.map((host) => this.begin(host)));
    if (this.#lostEarly !== null) throw this.#lostEarly;
  }

  /** Whose events run here. */
  serve(program: Program): void {
    this.#program = program;
    this.#supply.serve();
  }

  get program(): Program | null {
    return this.#program;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  begin(host: HostId): Promise<void> {
    return this.#supply.begin(host);
  }

  admit(host: HostId, open: OpenLink): Promise<void> {
    return this.#supply.admit(host, open);
  }

  /** From now on, this is the life of that host. */
  join(host: HostId, life: HostLife): void {
    life.number = host;
    this.#hosts.set(host, life);
    if (life.isReady) this.#note(host, "joined"); // a spare one
  }

  #note(host: HostId, what: HostFact["what"], why: string | null = null): void {
    this.#program?.feed.note({ kind: "host", host, what, why });
  }

  migrating(move: Migration, step: MigrationFact["step"]): void {
    const { slot, to } = move;
    const from = this.#movedFrom.get(move) ?? this.placement.of(slot);
    this.#movedFrom.set(move, from);
    const feed = this.#program?.feed;
    if (feed?.wants("migration"))
      feed.note({ kind: "migration", node: slot.node, context: String(slot), from, to, step });
  }

  isCurrent(host: HostLife): boolean {
    return host.number !== null && this.#hosts.get(host.number) === host;
  }

  heard(host: HostLife, aside: Aside): void {
    if (host.isLost) return;
    if (aside.kind === "heartbeat") host.heartbeat.answered(aside.heartbeat);
    if (aside.kind === "load") host.reported(aside);
    if (aside.kind === "warns") this.#program?.warn(HeadwaterError.restored(aside.code, aside.message));
    if (aside.kind !== "ready") return;
    host.begins();
    if (host.number !== null) this.#note(host.number, "joined");
  }

  #look(): void {
    for (const host of [...this.#hosts.values(), ...this.#supply.spares]) {
      const why = host.look(this.#patience);
      if (host.heartbeat.silentMs > 0) this.#silent(host);
      if (why === null) continue;
      host.lose(why);
      host.link.kill();
    }
    for (const [number, host] of this.#hosts)
      if (host.isReady && host.heartbeat.silentMs === 0) this.quarantine.look(number);
    const unable = [...this.#hosts].filter(([, host]) => !host.isReady || host.heartbeat.silentMs > 0);
    for (const [index, head] of this.heads.all.entries()) {
      head?.slow.look(
        this.#patience,
        new Map(unable.map(([number, host]) => [number, culpritOf(host, index)])),
      );
    }
    for (const [number, host] of unable) if (!host.isReady) this.#starting(number, host);
  }

  #starting(number: HostId, host: HostLife): void {
    if (host.isReportedLate || host.heartbeat.startingMs < this.#patience.eventMs) return;
    const warning = lateWarning(number, host.heartbeat.startingMs, this.heads.all);
    if (warning === null) return;
    host.isReportedLate = true;
    this.#program?.warn(warning);
  }

  #silent(host: HostLife): void {
    host.link.running((running) => {
      host.running = running;
      if (running === null || host.number === null || host.heartbeat.silentMs < this.#patience.eventMs)
        return;
      this.heads.all[running[0]]?.slow.blocks(running[1], host.number, host.heartbeat.silentMs);
    });
  }

  /** A host has ended, or is taken for dead. */
  lost(lost: HostLife, why: Error): void {
    const { number } = lost;
    if (this.#isClosed || number === null || !this.isCurrent(lost)) return;
    this.#hosts.delete(number);
    if (lost.isNew) return;
    this.#note(number, "lost", why.message);
    if (this.#program === null) {
      this.#lostEarly ??= notStarted(number, why);
      return;
    }
    const heads = this.heads.all;
    lost.link.running((running) => {
      lost.running ??= running;
    });
    const ran = whatRan(lost, heads);
    const ended = `host ${number} has ended (${why.message}${ran})`;
    if (!this.#isDurable && heads.some((head) => head?.hasState(lost.life)))
      return this.#giveUp(`${ended}, and with it the contexts that it had: there is no journal.`, why);
    if (lost.link.kind === "member") return this.#leaves(lost, number, why, ran);
    const inVain = this.#supply.startsInVain(number);
    if (inVain !== null) {
      const what = `${ended} ${inVain} times before it was ready, so it is not replaced any more.`;
      return this.#giveUp(what, why);
    }
    this.#supply.replace(number);
    const then = this.#isDurable ? "starts again" : "fails with HW-6004";
    this.#program.warn(lostWarning(lost, why, ran, `It is replaced; what was under way there ${then}.`));
    this.#tellHeads(lost, number, why);
    this.quarantine.replaced(number);
  }

  /** A host of another process is gone for good: if it comes again, it is a new one. */
  #leaves(lost: HostLife, number: HostId, why: Error, ran: string): void {
    this.onGone(number);
    const then = "Other hosts take over its contexts; what was under way there starts again.";
    this.#program?.warn(lostWarning(lost, why, ran, then));
    this.#tellHeads(lost, number, why);
    this.quarantine.forget(number);
  }

  #tellHeads(lost: HostLife, number: HostId, why: Error): void {
    const what = `host ${number} has ended (${why.message}) while this event was running there.`;
    const error = new HeadwaterError("HW-6004", what, { cause: why });
    for (const [index, head] of this.heads.all.entries()) {
      if (this.#isDurable) head?.hostLost(number, culpritOf(lost, index), why.message);
      else head?.eventsLost(number, error);
    }
  }

  #giveUp(what: string, cause: Error): void {
    this.#program?.journalFailed(new HeadwaterError("HW-6001", what, { cause }));
  }

  of(slot: Slot): HostId {
    return this.placement.of(slot);
  }

  life(host: HostId): number {
    return this.#hosts.get(host)?.life ?? 0;
  }

  status(host: HostId): HostStatus | null {
    const there = this.#hosts.get(host);
    if (there === undefined) return null;
    const { isReady, link } = there;
    return { isReady, restarts: this.#supply.restarts(host), member: link.member ?? null };
  }

  kill(host: HostId): void {
    this.#hosts.get(host)?.link.kill();
  }

  send(host: HostId, message: ToHost): void {
    this.#hosts.get(host)?.line.send(message);
  }

  stream(host: HostId, messages: Iterator<ToHost>): void {
    this.#hosts.get(host)?.line.stream(messages);
  }

  load(host: HostId): HostLoad | null {
    return this.#hosts.get(host)?.load ?? null;
  }

  takeSamples(host: HostId): readonly (readonly ContextSample[])[] {
    return this.#hosts.get(host)?.takeSamples() ?? [];
  }

  /** Ends a host that is no longer needed. */
  async end(host: HostId): Promise<void> {
    const ended = this.#hosts.get(host);
    this.#hosts.delete(host);
    this.#note(host, "removed");
    this.quarantine.forget(host);
    await ended?.link.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    const all = [...this.#hosts.values(), ...this.#supply.spares];
    this.#supply.close();
    this.#hosts.clear();
    await Promise.all(all.map(({ link }) => link.close()));
  }
}
