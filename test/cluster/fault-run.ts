import { run } from "headwater";
import { readBeat } from "#src/journal/stream/beats.js";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import type { Random } from "#src/random.js";
import type { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { BusyProcess } from "./busy-process.js";
import { FaultWitness } from "./fault-check.js";
import { FAULT_KINDS, type FaultKind, faultKind } from "./fault-kinds.js";
import BusyBank from "./programs/busy-bank.js";

const [MEMBERS, MEMBERS_WITH_HOSTS] = [4, 3];
/** So that a host that is paused is soon replaced. */
const HOSTS = { hosts: 1, hostsAs: "processes", hostTimeoutMs: 1000 } as const;

/** Processes that make transfers while they, their hosts and the NATS servers are killed, paused and cut off, several at a time. */
export class FaultRun {
  readonly #servers: NatsServers;
  readonly #random: Random;
  readonly #cluster: string;
  readonly #hasHosts: boolean;
  readonly #members = new Map<string, BusyProcess>();
  readonly #gone: BusyProcess[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly faults: Record<string, number> = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0]));
  acknowledged = 0;
  #started = 0;
  #head = "";
  #isServerAway = false;
  #lose: (error: Error) => void = () => {};
  /** Rejects when a process has ended by itself. */
  readonly #lost: Promise<never>;

  /** `hasHosts`: events run in processes besides the members. */
  constructor(servers: NatsServers, cluster: string, random: Random, hasHosts = false) {
    this.#servers = servers;
    this.#cluster = cluster;
    this.#random = random;
    this.#hasHosts = hasHosts;
    this.#lost = new Promise((_, reject) => {
      this.#lose = reject;
    });
    this.#lost.catch(() => {});
  }

  get #journal(): string {
    return `${this.#servers.address()}/${this.#cluster}`;
  }

  /** What there is, to look for what it waits for. */
  toString(): string {
    const shown = [...this.#members.values()].map(
      (each) => `${each.name}${each.isPaused ? " (paused)" : ""}`,
    );
    return `${this.#cluster}, head ${this.#head}: ${shown.join(", ")}; ${this.acknowledged} transfers`;
  }

  /** Starts the processes, lets `isOver` decide how many faults there are, and checks what was promised. */
  async run(isOver: (faults: number) => boolean): Promise<void> {
    const running = this.#run(isOver);
    try {
      await Promise.race([running, this.#lost]);
    } finally {
      running.catch(() => {});
      await Promise.all([...this.#members.values(), ...this.#gone].map((each) => each.kill()));
    }
  }

  async #run(isOver: (faults: number) => boolean): Promise<void> {
    const count = this.#hasHosts ? MEMBERS_WITH_HOSTS : MEMBERS;
    const members = [...Array.from({ length: count }, () => this.#start(true)), this.#start(false)];
    await waitFor("for the members", Promise.all(members));
    const service = await run(BusyBank, {
      journal: this.#journal,
      member: { name: "watcher", takesOver: false },
    });
    const port = await NatsLog.existing(natsAddress(this.#journal));
    const hearing = port.hear((bytes) => {
      const beat = readBeat(bytes);
      if (beat?.state === "head") this.#head = nameOf(beat.member);
    });
    try {
      const witness = new FaultWitness(service);
      await witness.hears(() => this.#members.values());
      for (let faults = 0; !isOver(faults); ) {
        const kind = faultKind(this.#random, faults, this.#hasHosts);
        const fault = this.#fault(kind);
        if (fault !== null) {
          faults += 1;
          this.faults[kind] = (this.faults[kind] ?? 0) + 1;
          this.#begin(fault);
        }
        // Some while others go on.
        if (fault !== null && this.#random.chance(0.4)) continue;
        await this.#goOn(2 + this.#random.int(4));
        if (this.#random.chance(0.2)) await witness.readResults();
      }
      await waitFor("for the last faults to end", Promise.all(this.#underWay));
      await this.#goOn(20);
      await waitFor(
        "for the members to stop",
        Promise.all([...this.#members.values()].map((each) => each.stop())),
      );
      // The log needs a head again, one that makes no transfers.
      const last = await run(BusyBank, { journal: this.#journal, member: { name: "last" } });
      try {
        await witness.check([...this.#members.values(), ...this.#gone], port);
      } finally {
        await last.stop({ graceMs: 0 });
      }
    } finally {
      hearing.stop();
      await service.stop({ graceMs: 0 });
      await port.close();
    }
  }

  async #start(takesOver: boolean): Promise<void> {
    this.#started += 1;
    const name = `m${this.#started}`;
    const heard = () => {
      this.acknowledged += 1;
    };
    const options = { ...(this.#hasHosts ? HOSTS : {}), member: { takesOver } };
    const role = { name, cluster: this.#cluster, servers: this.#servers.hosts(), options };
    const made = await BusyProcess.start(role, heard);
    made.lost.catch(this.#lose);
    this.#members.set(name, made);
    await made.joined;
  }

  #begin(fault: Promise<void>): void {
    this.#underWay.add(fault);
    fault.finally(() => this.#underWay.delete(fault)).catch(() => {});
  }

  #goOn(more: number): Promise<void> {
    const least = this.acknowledged + more;
    return until(() => this.acknowledged >= least, `until ${least} transfers: ${this}`);
  }

  /** One that nothing is wrong with, the head more often than not; null while too few are there to do without one more. */
  #victim(): BusyProcess | null {
    const sound = [...this.#members.values()].filter((each) => !each.isPaused);
    if (sound.length < 3) return null;
    const head = sound.find(({ name }) => name === this.#head);
    return head !== undefined && this.#random.chance(0.5) ? head : this.#random.pick(sound);
  }

  /** Null if there cannot be such a fault at the moment. */
  #fault(kind: FaultKind): Promise<void> | null {
    if (kind === "kill the log's leader" || kind === "pause a server")
      return this.#isServerAway ? null : this.#serverFault(kind);
    const victim = this.#victim();
    if (victim === null) return null;
    if (kind !== "kill a host" && kind !== "pause a host") return this.#memberFault(victim, kind);
    const hosts = victim.hosts();
    return hosts.length === 0 ? null : this.#hostFault(this.#random.pick(hosts), kind);
  }

  async #memberFault(victim: BusyProcess, kind: FaultKind): Promise<void> {
    if (kind === "kill") {
      this.#members.delete(victim.name);
      this.#gone.push(victim);
      await victim.kill();
      return this.#start(victim.role.options.member?.takesOver ?? true);
    }
    if (kind === "cut") return victim.cut();
    const undo = this.#disturb(victim, kind);
    await this.#goOn(3 + this.#random.int(kind === "partition" ? 60 : 20)); // of the others
    undo();
  }

  #disturb(victim: BusyProcess, kind: FaultKind): () => void {
    if (kind === "delay") {
      victim.delay(5 + this.#random.int(100));
      return () => victim.delay(0);
    }
    if (kind === "partition") {
      victim.isPaused = true;
      victim.partition(true);
      return () => {
        victim.isPaused = false;
        victim.partition(false);
      };
    }
    victim.signal("SIGSTOP");
    return () => victim.signal("SIGCONT");
  }

  /** A host that is paused for long is replaced, and may be gone when it would go on. */
  async #hostFault(pid: number, kind: FaultKind): Promise<void> {
    if (kind === "kill a host") return signal(pid, "SIGKILL");
    signal(pid, "SIGSTOP");
    await this.#goOn(3 + this.#random.int(20));
    signal(pid, "SIGCONT");
  }

  /** One server at a time: two of three are needed. */
  async #serverFault(kind: FaultKind): Promise<void> {
    this.#isServerAway = true;
    const isKill = kind === "kill the log's leader";
    const leader = isKill ? await this.#servers.leaderOf(`HEADWATER_${this.#cluster}`) : -1;
    const server = leader < 0 ? this.#random.int(3) : leader;
    await this.#servers.signal(server, isKill ? "SIGKILL" : "SIGSTOP");
    await this.#goOn(5);
    if (isKill) this.#servers.resume(server);
    else await this.#servers.signal(server, "SIGCONT");
    this.#isServerAway = false;
  }
}

function nameOf(member: string): string {
  return member.replace(/-[^-]+$/, "");
}

/** To a process that may have ended. */
function signal(pid: number, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
