import assert from "node:assert/strict";
import { run, type Service } from "headwater";
import { readBeat } from "#src/journal/stream/beats.js";
import { lastOf } from "#src/journal/stream/epoch.js";
import { readMessage } from "#src/journal/stream/messages.js";
import { natsAddress } from "#src/journal/stream/nats-address.js";
import { NatsLog } from "#src/journal/stream/nats-log.js";
import type { Random } from "#src/random.js";
import type { NatsServers } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { BusyProcess, WORKERS } from "./busy-process.js";
import BusyBank from "./programs/busy-bank.js";
import { readUpTo } from "./support.js";

const [ACCOUNTS, MEMBERS, READS_AT_ONCE] = [10, 5, 200];

const KINDS = ["kill", "pause", "partition", "delay", "cut", "pause a server", "kill a server"] as const;
type Kind = (typeof KINDS)[number];

/** Faults of members, with how many of a hundred faults are of each kind. The others are faults of servers, which stall the log for seconds. */
const SHARES: readonly (readonly [Kind, number])[] = [
  ["kill", 30],
  ["pause", 30],
  ["partition", 12],
  ["delay", 10],
  ["cut", 12],
  ["pause a server", 4],
];

/** Processes that make transfers while they, and the NATS servers, are killed, paused and cut off, several at a time. */
export class FaultRun {
  readonly #servers: NatsServers;
  readonly #random: Random;
  readonly #cluster: string;
  readonly #members = new Map<string, BusyProcess>();
  readonly #gone: BusyProcess[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly faults: Record<string, number> = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  acknowledged = 0;
  /** Per worker: transfers up to this one may have been made before the client was known. */
  readonly #unheard = new Map<string, number>();
  #started = 0;
  #head = "";
  #isServerAway = false;
  #lose: (error: Error) => void = () => {};
  /** Rejects when a process has ended by itself. */
  readonly #lost: Promise<never>;

  constructor(servers: NatsServers, cluster: string, random: Random) {
    this.#servers = servers;
    this.#cluster = cluster;
    this.#random = random;
    this.#lost = new Promise((_, reject) => {
      this.#lose = reject;
    });
    this.#lost.catch(() => {});
  }

  get #journal(): string {
    return `${this.#servers.address()}/${this.#cluster}`;
  }

  /** Starts the processes, lets `isOver` decide how many faults there are, and checks what was promised. */
  run(isOver: (faults: number) => boolean): Promise<void> {
    return Promise.race([this.#run(isOver), this.#lost]);
  }

  async #run(isOver: (faults: number) => boolean): Promise<void> {
    await waitFor("for the members", Promise.all(Array.from({ length: MEMBERS }, () => this.#start())));
    const service = await run(BusyBank, {
      journal: this.#journal,
      member: { name: "watcher", takesOver: false },
    });
    const heard: string[] = [];
    service.client<string>("ada", (operation) => heard.push(operation));
    const port = await NatsLog.existing(natsAddress(this.#journal));
    const hearing = port.hear((bytes) => {
      const beat = readBeat(bytes);
      if (beat?.state === "head") this.#head = beat.member.replace(/-[^-]+$/, "");
    });
    try {
      await until(() => heard.length > 0, "until the client hears");
      for (const { name, done } of this.#members.values())
        for (const worker of WORKERS) this.#unheard.set(`${name}/${worker}`, (done[worker] ?? -1) + 1);
      for (let faults = 0; !isOver(faults); ) {
        const kind = this.#kind(faults);
        const fault = this.#fault(kind);
        if (fault !== null) {
          faults += 1;
          this.faults[kind] = (this.faults[kind] ?? 0) + 1;
          this.#begin(fault);
        }
        // Some while others go on.
        if (fault === null || this.#random.chance(0.6)) await this.#goOn(2 + this.#random.int(4));
      }
      await waitFor("for the last faults to end", Promise.all(this.#underWay));
      await this.#goOn(20);
      await waitFor(
        "for the members to stop",
        Promise.all([...this.#members.values()].map((each) => each.stop())),
      );
      // The log needs a head again.
      await this.#start();
      await this.#check(service.root, heard, port);
    } finally {
      hearing.stop();
      await Promise.all([...this.#members.values()].map((each) => each.kill()));
      await service.stop({ graceMs: 0 });
      await port.close();
    }
  }

  #kind(faults: number): Kind {
    if (faults === 10) return "kill a server"; // once, early: its leader may be the log's
    let left = this.#random.int(98);
    for (const [kind, share] of SHARES) {
      left -= share;
      if (left < 0) return kind;
    }
    return "pause";
  }

  async #start(): Promise<void> {
    this.#started += 1;
    const name = `m${this.#started}`;
    const heard = () => {
      this.acknowledged += 1;
    };
    const made = await BusyProcess.start(name, this.#cluster, this.#servers.hosts(), heard);
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
    return until(() => this.acknowledged >= least, `until ${least} transfers`);
  }

  /** One that nothing is wrong with, the head more often than not; null while too few are there to do without one more. */
  #victim(): BusyProcess | null {
    const sound = [...this.#members.values()].filter((each) => !each.isPaused);
    if (sound.length < 3) return null;
    const head = sound.find(({ name }) => name === this.#head);
    return head !== undefined && this.#random.chance(0.5) ? head : this.#random.pick(sound);
  }

  /** Null if there cannot be such a fault at the moment. */
  #fault(kind: Kind): Promise<void> | null {
    if (kind === "kill a server" || kind === "pause a server")
      return this.#isServerAway ? null : this.#serverFault(kind);
    const victim = this.#victim();
    return victim === null ? null : this.#memberFault(victim, kind);
  }

  async #memberFault(victim: BusyProcess, kind: Kind): Promise<void> {
    if (kind === "kill") {
      this.#members.delete(victim.name);
      this.#gone.push(victim);
      await victim.kill();
      return this.#start();
    }
    if (kind === "cut") return victim.cut();
    const undo = this.#disturb(victim, kind);
    await this.#goOn(3 + this.#random.int(kind === "partition" ? 60 : 20)); // of the others
    undo();
  }

  #disturb(victim: BusyProcess, kind: Kind): () => void {
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

  /** One server at a time: two of three are needed. */
  async #serverFault(kind: Kind): Promise<void> {
    this.#isServerAway = true;
    const server = this.#random.int(3);
    const isKill = kind === "kill a server";
    await this.#servers.signal(server, isKill ? "SIGKILL" : "SIGSTOP");
    await this.#goOn(5);
    if (isKill) this.#servers.resume(server);
    else await this.#servers.signal(server, "SIGCONT");
    this.#isServerAway = false;
  }

  async #check(root: Service<BusyBank>["root"], heard: readonly string[], port: NatsLog): Promise<void> {
    const all = [...this.#members.values(), ...this.#gone].map((each) => ({ each, ...each.transfers() }));
    assert.equal(
      all.reduce((sum, { each }) => sum + each.stale, 0),
      0,
      "no answer is older than one before it",
    );
    const acknowledged = all.flatMap((each) => each.acknowledged);
    const unsure = all.flatMap((each) => each.unsure);
    const times = new Map<string, number>();
    const look = async (operation: string) => {
      const [made, rung, noted] = await root.operations(operation).read();
      times.set(operation, made);
      if (made === 0) return true;
      assert.ok(made === 1 && rung <= 1 && noted <= 1, `${operation}: ${made}, ${rung}, ${noted}`);
      return rung === 1 && noted === 1;
    };
    const names = [...acknowledged, ...unsure];
    for (let at = 0; at < names.length; at += READS_AT_ONCE) {
      const some = names.slice(at, at + READS_AT_ONCE);
      // Timers and outside calls may come a little later.
      await until(async () => (await Promise.all(some.map(look))).every(Boolean), "until all has come of it");
    }
    for (const operation of acknowledged) assert.equal(times.get(operation), 1, operation);
    const told = new Set(heard);
    assert.equal(told.size, heard.length, "each message is heard once");
    const isMissing = (operation: string) => {
      const [, worker = "", i] = /^(.*)\/(\d+)$/.exec(operation) ?? [];
      return (
        times.get(operation) === 1 && Number(i) > (this.#unheard.get(worker) ?? -1) && !told.has(operation)
      );
    };
    const allHeard = () => {
      for (const operation of heard) told.add(operation);
      return !names.some(isMissing);
    };
    await until(allHeard, "until all messages were heard");
    assert.equal(told.size, heard.length, "each message is heard once");
    assert.equal(await root.total(ACCOUNTS), ACCOUNTS * 100);
    const { position } = await lastOf(port);
    const messages = await readUpTo(port, position);
    for (const message of messages) assert.ok(readMessage(message) !== null, `message ${message.position}`);
  }
}
