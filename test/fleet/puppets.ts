import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Context, ContextClass, MemoryJournal, RunOptions, Service } from "headwater";
import type { HostSet } from "#src/host/fleet/host-set.js";
import { placementFor } from "#src/host/fleet/placement-rules.js";
import { startHosts } from "#src/host/fleet/start-hosts.js";
import type { Aside, HostLink, LinkEvents, RunningEventId } from "#src/host/link/host-link.js";
import { DEFAULT_LIMITS } from "#src/host/ports/limits.js";
import { patienceOf } from "#src/host/ports/patience.js";
import { memoryPorts } from "#src/host/ports/ports.js";
import { runOn } from "#src/host/run.js";
import { HostSite } from "#src/host/site/site.js";
import { Ledger } from "#src/host/store/ledger.js";
import { HostLine } from "#src/host/wire/line.js";

/** A host in the thread of the test, which decides when it is ready, whether it answers, and when it ends. */
export class Puppet implements HostLink {
  readonly kind = "thread";
  isReady = false;
  isKilled = false;
  /** Does its event loop go round? */
  answers = true;
  /** What it says that it is at. */
  at: RunningEventId | null = null;
  readonly #line: HostLine;
  #beat: Aside | null = null;
  readonly #early: Uint8Array[] = [];

  constructor(
    root: ContextClass,
    isDurable: boolean,
    readonly on: LinkEvents,
  ) {
    const site = new HostSite(
      { [root.name]: root },
      { ...memoryPorts, send: (message) => this.#line.send(message) },
      { limits: DEFAULT_LIMITS, isDurable },
    );
    this.#line = new HostLine({
      roots: () => site.roots,
      messageBytes: DEFAULT_LIMITS.messageBytes,
      post: (bytes) => this.isKilled || on.batch(bytes),
      take: (message) => site.receive(message),
    });
  }

  /** It has loaded the program. */
  ready(): void {
    this.isReady = true;
    this.on.aside({ kind: "ready" });
    for (const bytes of this.#early.splice(0)) this.#line.receive(bytes);
  }

  /** It ends by itself. */
  ends(why: string): void {
    this.isKilled = true;
    this.on.lost(new Error(why));
  }

  post(bytes: Uint8Array): void {
    if (this.isKilled) return;
    if (this.isReady) this.#line.receive(bytes);
    else this.#early.push(bytes);
  }

  tell(aside: Aside): void {
    if (aside.kind !== "heartbeat") return;
    this.#beat = aside;
    if (this.answers) this.catchUp();
  }

  /** It answers what it was last asked. */
  catchUp(): void {
    if (this.#beat !== null) this.on.aside(this.#beat);
  }

  running(answer: (running: RunningEventId | null) => void): void {
    answer(this.at);
  }

  kill(): void {
    if (!this.isKilled) this.ends("it was killed");
  }

  async close(): Promise<void> {
    this.kill();
  }
}

export interface Times {
  readonly slowEventMs?: number;
  readonly eventTimeoutMs?: number;
  readonly hostTimeoutMs?: number;
  readonly hostStartTimeoutMs?: number;
}

/** Hosts that do as they are told: all that have been started, in that order. The spare one is among them. */
export class Puppets {
  readonly started: Puppet[] = [];
  readonly #root: ContextClass;
  readonly #journal: MemoryJournal | null;

  constructor(root: ContextClass, journal: MemoryJournal | null) {
    this.#root = root;
    this.#journal = journal;
  }

  /** Starts so many hosts. They still have to be told that they are ready. */
  start(hosts: number, times: Times): Promise<HostSet> {
    const { slowEventMs, eventTimeoutMs, hostTimeoutMs, hostStartTimeoutMs } = times;
    const isDurable = this.#journal !== null;
    return startHosts(
      (_, on) => {
        const puppet = new Puppet(this.#root, isDurable, on);
        this.started.push(puppet);
        return puppet;
      },
      { module: "", limits: DEFAULT_LIMITS, isDurable },
      placementFor(hosts, undefined),
      patienceOf(slowEventMs, eventTimeoutMs, hostTimeoutMs, hostStartTimeoutMs),
    );
  }

  /** Runs a program on so many hosts that are ready; with a journal, also the spare one, unless it says otherwise. */
  async run<R extends Context>(
    root: new () => R,
    options: RunOptions & Times & { readonly hosts: number; readonly isSpareReady?: boolean },
  ): Promise<Service<R>> {
    const starting = this.start(options.hosts, options);
    for (const puppet of this.started) puppet.ready();
    const hosts = await starting;
    const ledger = this.#journal === null ? null : new Ledger(this.#journal, DEFAULT_LIMITS.contexts);
    const service = runOn(memoryPorts, root as ContextClass, options, ledger, hosts, () => hosts.close());
    if (options.isSpareReady ?? true) for (const spare of this.started.slice(options.hosts)) spare.ready();
    return service as Service<R>;
  }

  get last(): Puppet {
    return this.started.at(-1) as Puppet;
  }
}

/** Time passes, for those who look after hosts, only when the test says so. */
export function clock(t: TestContext): (ms: number) => Promise<void> {
  t.mock.timers.enable({ apis: ["setInterval"] });
  return async (ms) => {
    t.mock.timers.tick(ms);
    await said();
  };
}

/** Lets hosts and head say to each other what they have to say. */
export async function said(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}
