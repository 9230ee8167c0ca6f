import { Gateway } from "#src/cluster/gateway.js";
import type { Hello } from "#src/cluster/links.js";
import { Member } from "#src/cluster/member.js";
import { NamedPlace } from "#src/cluster/place.js";
import type { MemberWorld } from "#src/cluster/world.js";
import { HeadwaterError } from "#src/errors.js";
import { checkShapes } from "#src/host/context/index.js";
import type { Ports } from "#src/host/ports/index.js";
import { runOn } from "#src/host/run.js";
import { Ledger } from "#src/host/store/index.js";
import type { Journal, KeyTable } from "#src/journal/journal.js";
import { type Shape, shapeOf } from "#src/model/shape.js";
import type { Random } from "#src/random.js";
import { type LogLuck, SimLog, type SimStream } from "#src/sim/world/sim-log.js";
import { encode } from "#src/state/codec.js";
import Bank from "./programs/bank.js";
import { connected, type SimLink } from "./sim-link.js";
import { type Disk, openSimTable } from "./sim-table.js";
import type { Chance } from "./support.js";

/** Mistakes that the simulation must find. */
export type ClusterPlant = "overlay kept" | "lagging table" | "retried as new" | "early cut";

export interface SimClusterParts {
  readonly stream: SimStream;
  readonly luck: LogLuck;
  readonly random: Random;
  readonly chance: Chance;
  readonly plant: ClusterPlant | null;
  readonly broken: (error: unknown) => void;
}

const SNAPSHOT_BYTES = 3000;

/**
 * Processes of a cluster over a simulated log, with links, disks and a clock that are simulated, too. What they run is the members, gateways,
 * heads and relays of real processes.
 */
export class SimCluster {
  readonly processes: SimProcess[] = [];
  readonly parts: SimClusterParts;
  readonly listening = new Map<string, (link: SimLink) => void>();
  #started = 0;
  takeovers = 0;
  stepDowns = 0;
  handovers = 0;

  constructor(parts: SimClusterParts, count: number) {
    this.parts = parts;
    for (let i = 0; i < count; i++) this.start();
  }

  toString(): string {
    return this.processes.map(String).join("; ");
  }

  start(): void {
    this.processes.push(new SimProcess(`p${this.#started++}`, this));
  }

  /** Nothing more happens. */
  end(): void {
    for (const process of this.processes) process.kill();
    this.parts.chance.end();
  }

  /** One of them is held up for a while. It does not notice. */
  pause(): void {
    const { random, chance } = this.parts;
    const process = random.pick(this.processes);
    process.isPaused = true;
    chance.at(random.int(4000), () => process.goOn());
  }

  /** One ends without a word, and another one comes. The first is kept: some clients have no other. */
  kill(): void {
    const { random } = this.parts;
    const [killed] = this.processes.splice(1 + random.int(this.processes.length - 1), 1);
    killed?.kill();
    this.start();
  }

  /** One leaves in good order, and another one comes. */
  leave(): void {
    const { random, broken } = this.parts;
    const [left] = this.processes.splice(1 + random.int(this.processes.length - 1), 1);
    left?.leave().catch(broken);
    this.start();
  }

  /** An operator wants another head. */
  handOver(): void {
    const { random, broken } = this.parts;
    const { member } = random.pick(this.processes);
    member?.handOver(null).then(
      () => {
        this.handovers += 1;
      },
      (error: unknown) => {
        if (!(error instanceof HeadwaterError && error.code === "HW-3111")) broken(error);
      },
    );
  }
}

/** One process. What it does happens later, and not at all when it was killed. */
export class SimProcess {
  readonly gateway: Gateway;
  readonly cluster: SimCluster;
  readonly links = new Set<SimLink>();
  readonly #disk: Disk = { file: null };
  readonly #joined: Promise<unknown>;
  #held: (() => void)[] = [];
  isPaused = false;
  isDead = false;
  member: Member | null = null;

  constructor(
    readonly name: string,
    cluster: SimCluster,
  ) {
    this.cluster = cluster;
    const { broken } = cluster.parts;
    this.gateway = new Gateway({
      roots: new Map([["Bank", NamedPlace.root("Bank", Bank)]]),
      isSingle: true,
      answersMs: 600_000,
      hasClient: () => false,
      refused: () => {},
      failed: () => {},
      failure: () => (this.isDead ? gone() : null),
    });
    this.#joined = this.#join();
    this.#joined.catch(broken);
  }

  readonly later = (_what: string, happen: () => void): void => {
    const { chance } = this.cluster.parts;
    chance.later(_what, () => {
      if (this.isDead) return;
      if (this.isPaused) this.#held.push(happen);
      else happen();
    });
  };

  toString(): string {
    const { member, gateway, isPaused } = this;
    const role = member === null ? "joining" : member.isHead ? "head" : "no head";
    return `${this.name}: ${role} in epoch ${member?.epoch} of ${member?.headMember}${isPaused ? ", paused" : ""}${gateway.hasHead ? "" : ", not connected"}`;
  }

  goOn(): void {
    this.isPaused = false;
    for (const happen of this.#held.splice(0)) this.later("held", happen);
  }

  kill(): void {
    this.isDead = true;
    this.cluster.listening.delete(this.name);
    for (const link of this.links) link.cut();
    this.gateway.end(gone());
  }

  async leave(): Promise<void> {
    await this.#joined;
    await this.member?.leave(1000);
    this.kill();
  }

  async #join(): Promise<void> {
    const { stream, luck, random, plant, broken } = this.cluster.parts;
    const port = new SimLog(stream, luck, random.fork(), this.later, (callback, ms) =>
      this.#at(ms, callback),
    );
    if (plant === "early cut") port.cutsEarly = true;
    const shape = shapeOf(Bank, undefined);
    const member = await Member.join({
      name: this.name,
      port,
      world: this.#world(),
      address: "simulated",
      directory: "",
      host: "",
      takesOver: true,
      program: "Bank",
      outline: "Bank",
      gateway: this.gateway,
      offer: null,
      misfit: (table) => misfitOf(table, shape),
      restart: null,
      start: (journal, onFailure) => this.#start(journal, onFailure),
      snapshotBytes: SNAPSHOT_BYTES,
      onWarning: () => {},
      onFailure: broken,
    });
    member.onRole = (isHead) => {
      if (isHead) this.cluster.takeovers += 1;
      else this.cluster.stepDowns += 1;
    };
    this.member = member;
  }

  #at(ms: number, callback: () => void): () => void {
    return this.cluster.parts.chance.at(ms, () => this.later("time", callback));
  }

  #world(): MemberWorld {
    const { random, chance, plant } = this.cluster.parts;
    return {
      now: () => chance.now,
      every: (ms, callback) => {
        let stop = () => {};
        const again = () => {
          stop = this.#at(ms, () => {
            again();
            callback();
          });
        };
        again();
        return () => stop();
      },
      soon: (callback) => this.later("soon", callback),
      unique: () => `${this.name}/${random.bits()}`,
      listen: async (_host, accept) => {
        this.cluster.listening.set(this.name, (link) => {
          link.listen({
            aside: (hello) => accept(link, hello as Hello),
            batch: () => link.cut(),
            closed: () => {},
          });
        });
        return { address: this.name, close: () => this.cluster.listening.delete(this.name) };
      },
      dial: ({ member, isOver, refused }) => connected(this, member, isOver, refused),
      openTable: (port, options) => openSimTable(port, options, this.#disk, random, plant, () => this.member),
    };
  }

  /** As `run` does: the journal takes note that a process begins before the program does. */
  async #start(journal: Journal, onFailure: () => void) {
    const ports = this.#ports();
    const ledger = new Ledger(journal, 4);
    const life = encode({ starts: 0, key: null, tries: 0 });
    await new Promise<void>((resolve, reject) => {
      journal.append([{ key: "l", value: life }], (error) => (error === null ? resolve() : reject(error)));
    });
    return runOn(ports, Bank, { onFailure, onError: () => {}, onWarning: () => {} }, ledger);
  }

  #ports(): Ports {
    const { chance, broken, random } = this.cluster.parts;
    return {
      now: () => chance.now,
      timeOfDay: () => chance.now,
      soon: (task) => queueMicrotask(task),
      atRest: (task) => queueMicrotask(() => process.nextTick(task)),
      at: (ms, task) => this.#at(ms - chance.now, task),
      append: (done) => done(),
      unique: () => String(random.bits()),
      broken,
      transmit: (_from, _to, arrive) => this.later("message", arrive),
    };
  }
}

function misfitOf(table: KeyTable, shape: Shape): HeadwaterError | null {
  try {
    checkShapes(table, [shape]);
    return null;
  } catch (error) {
    return error as HeadwaterError;
  }
}

export function gone(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the process is gone.");
}
