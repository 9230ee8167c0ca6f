import type { HotCopies } from "#src/cluster/copies.js";
import { type Division, OWN_LOG } from "#src/cluster/division.js";
import { Gateway } from "#src/cluster/gateway.js";
import { HeadSpread } from "#src/cluster/head-spread.js";
import type { Hello } from "#src/cluster/links.js";
import { Member } from "#src/cluster/member.js";
import { NamedPlace } from "#src/cluster/place.js";
import { routeThrough } from "#src/cluster/several-gateways.js";
import type { MemberWorld } from "#src/cluster/world.js";
import { HeadwaterError } from "#src/errors.js";
import { checkShapes } from "#src/host/context/index.js";
import type { Ports } from "#src/host/ports/index.js";
import { own, rootsOf, runOn } from "#src/host/run.js";
import type { Nodes } from "#src/host/service.js";
import { Ledger } from "#src/host/store/index.js";
import type { Journal, KeyTable, Write } from "#src/journal/journal.js";
import type { FollowedLog, FollowedTableOptions } from "#src/journal/stream/followed-table.js";
import type { LogPort } from "#src/journal/stream/log-port.js";
import type { OwnLog } from "#src/model/between-logs.js";
import type { ContextClass } from "#src/model/context.js";
import { inspectTree, type Shape } from "#src/model/shape.js";
import type { Random } from "#src/random.js";
import { type LogLuck, SimLog, SimStream } from "#src/sim/world/sim-log.js";
import { encode } from "#src/state/codec.js";
import { type CopyPlant, LateDigests, MixedParts } from "./copies-plants.js";
import { connected, type SimLink } from "./sim-link.js";
import { type Disk, openSimTable } from "./sim-table.js";
import type { Chance } from "./support.js";

/** Mistakes that the simulation must find. */
export type ClusterPlant =
  | "overlay kept"
  | "lagging table"
  | "retried as new"
  | "early cut"
  | "confirmed early"
  | "gap accepted"
  | "overtaken forgotten"
  | "mark forgotten"
  | "unsent forgotten";

export interface SimClusterParts {
  readonly program: ContextClass | Nodes;
  /** The logical nodes in each log, and the logs. */
  readonly division: Division;
  readonly streams: ReadonlyMap<string, SimStream>;
  /** How likely a message between heads gets lost, though its link does not break. */
  readonly lostBetween: number;
  readonly luck: LogLuck;
  readonly random: Random;
  readonly chance: Chance;
  readonly plant: ClusterPlant | null;
  readonly broken: (error: unknown) => void;
  /** What a process keeps of the engines of its program; null if nothing. */
  readonly copiesOf?: (seat: SimSeat) => HotCopies;
  readonly copyPlant?: CopyPlant | null;
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

  /** One of them is held up for a while, a head more often than not. It does not notice. */
  pause(): void {
    const { random, chance } = this.parts;
    const head = this.processes.find(({ seats }) => seats.some(({ member }) => member?.isHead));
    const process = head !== undefined && random.chance(0.5) ? head : random.pick(this.processes);
    process.isPaused = true;
    chance.at(random.int(4000), () => process.goOn());
  }

  /** One ends without a word, and another one comes. */
  kill(): void {
    this.#without()?.kill();
    this.start();
  }

  /** One leaves in good order, and another one comes. */
  leave(): void {
    this.#without()?.leave().catch(this.parts.broken);
    this.start();
  }

  /** Takes one away. Of several, the first is kept: some clients have no other. */
  #without(): SimProcess | undefined {
    const { random } = this.parts;
    const others = this.processes.length - 1;
    return this.processes.splice(others === 0 ? 0 : 1 + random.int(others), 1)[0];
  }

  /** An operator wants another head. */
  handOver(): void {
    const { random, broken } = this.parts;
    const { seats } = random.pick(this.processes);
    const seat = seats.length === 1 ? seats[0] : random.pick(seats);
    seat?.member?.handOver(null).then(
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
  readonly cluster: SimCluster;
  readonly links = new Set<SimLink>();
  readonly seats: readonly SimSeat[];
  readonly #joined: Promise<unknown>;
  #held: (() => void)[] = [];
  isPaused = false;
  isDead = false;

  constructor(
    readonly name: string,
    cluster: SimCluster,
  ) {
    this.cluster = cluster;
    const { broken, division } = cluster.parts;
    this.seats = [...division.keys()].map((log) => new SimSeat(this, log));
    this.#joined = this.#join();
    this.#joined.catch(broken);
  }

  /** Of the cluster's own log. */
  get gateway(): Gateway {
    return this.#own.gateway;
  }

  get member(): Member | null {
    return this.#own.member;
  }

  get #own(): SimSeat {
    const [own] = this.seats;
    if (own === undefined) throw new Error("every cluster has a log of its own");
    return own;
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
    return `${this.name}${this.isPaused ? ", paused" : ""}: ${this.seats.map(String).join(" and ")}`;
  }

  goOn(): void {
    this.isPaused = false;
    for (const happen of this.#held.splice(0)) this.later("held", happen);
  }

  kill(): void {
    this.isDead = true;
    for (const seat of this.seats) this.cluster.listening.delete(seat.place);
    for (const link of this.links) link.cut();
    for (const { gateway } of this.seats) gateway.end(gone());
  }

  async leave(): Promise<void> {
    await this.#joined;
    await Promise.all(this.seats.map(({ member }) => member?.leave(1000)));
    this.kill();
  }

  async #join(): Promise<void> {
    const gateways = new Map(this.seats.map(({ log, gateway }) => [log, gateway]));
    const members = await Promise.all(this.seats.map((seat) => seat.join(gateways)));
    if (members.length > 1) new HeadSpread({ every: (ms, look) => this.every(ms, look) }, members);
  }

  every(ms: number, callback: () => void): () => void {
    let stop = () => {};
    const again = () => {
      stop = this.at(ms, () => {
        again();
        callback();
      });
    };
    again();
    return () => stop();
  }

  at(ms: number, callback: () => void): () => void {
    return this.cluster.parts.chance.at(ms, () => this.later("time", callback));
  }
}

/** What a process is in one log. */
export class SimSeat {
  readonly gateway: Gateway;
  readonly #disk: Disk = { file: null };
  readonly #nodes: ReadonlySet<string>;
  member: Member | null = null;

  constructor(
    readonly process: SimProcess,
    readonly log: string,
  ) {
    const { division, program } = process.cluster.parts;
    this.#nodes = division.get(log) ?? new Set();
    const classes = Object.entries(rootsOf(own(program, { nodes: this.#nodes })));
    this.gateway = new Gateway({
      roots: new Map(classes.map(([node, cls]) => [node, NamedPlace.root(node, cls)])),
      isSingle: typeof program === "function",
      answersMs: 600_000,
      hasClient: () => false,
      refused: () => {},
      failed: () => {},
      failure: () => (process.isDead ? gone() : null),
    });
  }

  /** Where links to it are accepted. */
  get place(): string {
    return placeOf(this.process.name, this.log);
  }

  toString(): string {
    const { member, gateway, log } = this;
    const role = member === null ? "joining" : member.isHead ? "head" : "no head";
    const of = log === OWN_LOG ? "" : ` of ${log}`;
    return `${role}${of} in epoch ${member?.epoch} of ${member?.headMember}${gateway.hasHead ? "" : ", not connected"}`;
  }

  async join(gateways: ReadonlyMap<string, Gateway>): Promise<Member> {
    const { cluster, later, name } = this.process;
    const { streams, luck, random, plant, broken, program, division } = cluster.parts;
    const stream = streams.get(this.log) ?? new SimStream();
    const port = new SimLog(stream, luck, random.fork(), later, (callback, ms) =>
      this.process.at(ms, callback),
    );
    if (plant === "early cut") port.cutsEarly = true;
    const classes = Object.values(rootsOf(own(program, { nodes: this.#nodes })));
    const shapes = classes.flatMap((cls) => inspectTree(cls));
    const open = routeThrough(gateways, division, this.log);
    const ownLog = division.size === 1 ? null : { nodes: this.#nodes, open };
    const member = await Member.join({
      name,
      port,
      world: this.#world(),
      address: "simulated",
      directory: "",
      host: "",
      takesOver: true,
      program: "simulated",
      outline: "simulated",
      gateway: this.gateway,
      copies: cluster.parts.copiesOf?.(this) ?? null,
      offer: null,
      load: () => null,
      misfit: (table) => misfitOf(table, shapes),
      restart: null,
      retire: null,
      drainAll: async () => {},
      start: (journal, onFailure) => this.#start(planted(journal, plant), onFailure, ownLog),
      snapshotBytes: SNAPSHOT_BYTES,
      onWarning: () => {},
      onFailure: broken,
    });
    member.onRole = (isHead) => {
      if (isHead) cluster.takeovers += 1;
      else cluster.stepDowns += 1;
    };
    this.member = member;
    return member;
  }

  #world(): MemberWorld {
    const { process, log } = this;
    const { name, cluster, later } = process;
    const { random, chance } = cluster.parts;
    return {
      now: () => chance.now,
      every: (ms, callback) => process.every(ms, callback),
      soon: (callback) => later("soon", callback),
      unique: () => `${name}/${random.bits()}`,
      listen: async (_host, accept) => {
        cluster.listening.set(this.place, (link) => {
          link.listen({
            aside: (hello) => accept(link, hello as Hello),
            batch: () => link.cut(),
            closed: () => {},
          });
        });
        return { address: name, close: () => cluster.listening.delete(this.place) };
      },
      dial: ({ member, isOver, refused }) => connected(process, member, log, isOver, refused),
      openTable: (port, options) => this.#openTable(port, options),
    };
  }

  async #openTable(port: LogPort, options: FollowedTableOptions): Promise<FollowedLog> {
    const { random, plant, copyPlant } = this.process.cluster.parts;
    const { tap } = options;
    const planted =
      tap !== undefined && copyPlant === "digest of another record"
        ? new LateDigests(tap)
        : tap !== undefined && copyPlant === "part of another checkpoint"
          ? new MixedParts(tap)
          : tap;
    const given = { ...options, tap: planted };
    return openSimTable(port, given, this.#disk, random, plant, () => this.member);
  }

  /** As `run` does: the journal takes note that a process begins before the program does. */
  async #start(journal: Journal, onFailure: () => void, ownLog: OwnLog | null) {
    const { program } = this.process.cluster.parts;
    const ledger = new Ledger(journal, 4);
    const life = encode({ starts: 0, key: null, tries: 0 });
    await new Promise<void>((resolve, reject) => {
      journal.append([{ key: "l", value: life }], (error) => (error === null ? resolve() : reject(error)));
    });
    const options = { onFailure, onError: () => {}, onWarning: () => {} };
    return runOn(this.#ports(), program, options, ledger, null, async () => {}, null, ownLog);
  }

  #ports(): Ports {
    const { chance, broken, random } = this.process.cluster.parts;
    return {
      now: () => chance.now,
      timeOfDay: () => chance.now,
      soon: (task) => queueMicrotask(task),
      atRest: (task) => queueMicrotask(() => process.nextTick(task)),
      at: (ms, task) => this.process.at(ms - chance.now, task),
      append: (done) => done(),
      unique: () => String(random.bits()),
      broken,
      transmit: (_from, _to, arrive) => this.process.later("message", arrive),
    };
  }
}

/** A journal that makes a mistake with what it has of messages between logs. */
function planted(journal: Journal, plant: ClusterPlant | null): Journal {
  const isTicketed = ({ key, value }: Write) => key.startsWith("e/") && value !== null;
  return {
    engines: journal.engines,
    get: (key) => (plant === "mark forgotten" && key.startsWith("f/") ? undefined : journal.get(key)),
    range: (prefix, after) =>
      plant === "unsent forgotten" && prefix === "q/" ? [] : journal.range(prefix, after),
    append: (writes, done) => {
      const kept = plant === "overtaken forgotten" ? writes.filter((write) => !isTicketed(write)) : writes;
      journal.append(kept, done);
    },
    refusal: () => journal.refusal(),
    close: () => journal.close(),
  };
}

export function placeOf(name: string, log: string): string {
  return `${name} ${log}`;
}

function misfitOf(table: KeyTable, shapes: readonly Shape[]): HeadwaterError | null {
  try {
    checkShapes(table, shapes);
    return null;
  } catch (error) {
    return error as HeadwaterError;
  }
}

export function gone(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the process is gone.");
}
