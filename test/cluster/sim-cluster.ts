import { Gateway } from "#src/cluster/gateway.js";
import { NamedPlace } from "#src/cluster/place.js";
import { Relay } from "#src/cluster/relay.js";
import type { GatewayMessage, HeadLink, HeadMessage } from "#src/cluster/relayed.js";
import type { HeadwaterError } from "#src/errors.js";
import type { Ports } from "#src/host/ports/index.js";
import { runOn } from "#src/host/run.js";
import type { AnyService } from "#src/host/service.js";
import { Ledger } from "#src/host/store/index.js";
import { LoggedJournal } from "#src/journal/logged-journal.js";
import { SortedMap } from "#src/journal/sorted-map.js";
import { beginEpoch, lastOf } from "#src/journal/stream/epoch.js";
import { LogFollower } from "#src/journal/stream/log-follower.js";
import { StreamLog } from "#src/journal/stream/stream-log.js";
import { DOOR } from "#src/model/door.js";
import type { Random } from "#src/random.js";
import { type DelayPort, type LogLuck, SimLog, type SimStream } from "#src/sim/world/sim-log.js";
import Bank from "./programs/bank.js";
import { closed, damaged, fenced } from "./support.js";

/** Mistakes that the simulation must find. */
export type ClusterPlant = "overlay kept" | "lagging table" | "retried as new";

const NOTHING = {
  isDue: () => false,
  freeze: () => {},
  frozenUpTo: () => {},
  written: () => {},
  close: async () => {},
};

class MemoryTable {
  readonly #map = new SortedMap<Uint8Array>();
  readonly bytesInMemory = 0;

  get(key: string): Uint8Array | undefined {
    return this.#map.get(key);
  }

  *range(prefix: string, after = ""): Iterable<[string, Uint8Array]> {
    yield* this.#map.from(prefix, after);
  }

  set(key: string, value: Uint8Array | null): void {
    if (value === null) this.#map.delete(key);
    else this.#map.set(key, value);
  }

  async close(): Promise<void> {}
}

export interface SimClusterParts {
  readonly stream: SimStream;
  readonly luck: LogLuck;
  readonly random: Random;
  readonly later: DelayPort;
  readonly plant: ClusterPlant | null;
  readonly broken: (error: unknown) => void;
}

/** Processes of a cluster over a simulated log. Any of them suspects the head at any moment, and old heads go on until they find out. */
export class SimCluster {
  readonly processes: SimProcess[] = [];
  readonly #parts: SimClusterParts;
  takeovers = 0;
  stepDowns = 0;

  constructor(parts: SimClusterParts, count: number) {
    this.#parts = parts;
    for (let i = 0; i < count; i++) this.processes.push(new SimProcess(`p${i}`, parts, this));
  }

  headOf(epoch: number): SimProcess | undefined {
    return this.processes.find((process) => process.head?.epoch === epoch);
  }

  /** Nothing more happens. */
  end(): void {
    for (const process of this.processes) process.end();
  }

  /** One of the heads, or of those that take themselves for one, is heard by another process. */
  beat(): void {
    const { random, later } = this.#parts;
    const { head } = random.pick(this.processes);
    if (head === null) return;
    const hears = random.pick(this.processes);
    later("beat", () => hears.heard(head.epoch));
  }

  /** One of them takes the head for gone, be it so or not. */
  suspect(): void {
    this.#parts.random.pick(this.processes).suspect();
  }
}

interface SimHead {
  readonly epoch: number;
  readonly service: AnyService;
}

/** A process: a follower with a table, a gateway, and the program while it is the head. */
export class SimProcess {
  readonly gateway: Gateway;
  readonly #parts: SimClusterParts;
  readonly #port: SimLog;
  #table = new MemoryTable();
  #follower: LogFollower;
  #isChanging = false;
  #known = 0;
  #link: SimLink | null = null;
  head: SimHead | null = null;

  constructor(
    readonly name: string,
    parts: SimClusterParts,
    readonly cluster: SimCluster,
  ) {
    this.#parts = parts;
    this.#port = new SimLog(parts.stream, parts.luck, parts.random.fork(), parts.later);
    this.gateway = new Gateway({
      roots: new Map([["Bank", NamedPlace.root("Bank", Bank)]]),
      isSingle: true,
      answersMs: 600_000,
      hasClient: () => false,
      refused: () => {},
      failed: () => {},
      failure: () => null,
    });
    this.#follower = this.#follow(0);
  }

  #follow(after: number): LogFollower {
    const table = this.#table;
    return new LogFollower(this.#port, after, {
      write: (key, value) => table.set(key, value),
      applied: () => {},
      epoch: (epoch) => this.#epoch(epoch),
      failed: (what) => this.#parts.broken(new Error(what)),
    });
  }

  /** The gateway turns to the head of that epoch, as soon as that is up. */
  #epoch(epoch: number): void {
    if (epoch <= this.#known) return;
    this.#known = epoch;
    this.#connect(epoch);
  }

  #connect(epoch: number): void {
    this.#link?.close();
    this.#link = null;
    const look = () => {
      if (epoch !== this.#known || this.#link !== null) return;
      const process = this.cluster.headOf(epoch);
      if (process?.head == null) return this.#parts.later("connect", look);
      this.#link = new SimLink(this, process.head.service, this.#parts, () => {
        this.#link = null;
        this.#parts.later("connect", look); // the link broke, and the head may live
      });
    };
    look();
  }

  end(): void {
    this.#known = Number.POSITIVE_INFINITY;
    this.#link?.close();
    this.#follower.stop();
  }

  heard(epoch: number): void {
    this.#epoch(epoch);
    if (this.head !== null && this.head.epoch < epoch) void this.head.service[DOOR].health();
  }

  suspect(): void {
    if (this.#isChanging || this.head !== null) return;
    this.#isChanging = true;
    this.#takeOver()
      .catch(this.#parts.broken)
      .finally(() => {
        this.#isChanging = false;
      });
  }

  async #takeOver(): Promise<void> {
    const follower = this.#follower;
    const end = await lastOf(this.#port);
    if (this.#parts.plant !== "lagging table") await follower.caughtUp(end.position);
    const { progress } = follower;
    const isLagging = this.#parts.plant === "lagging table";
    const position = isLagging ? end.position : follower.position;
    const owner = { attempt: `${this.name}/${this.#parts.random.bits()}`, member: this.name };
    const epoch = isLagging ? Math.max(progress.epoch, this.#known) : progress.epoch;
    const begun = await beginEpoch(this.#port, { position, epoch }, owner);
    if (begun === null) return;
    follower.stop();
    this.cluster.takeovers += 1;
    this.#become(begun);
  }

  #become(begun: { readonly epoch: number; readonly begin: number }): void {
    const log = new StreamLog({ port: this.#port, ...begun, fenced, damaged, closed });
    const journal = new LoggedJournal({
      address: "simulated",
      log,
      table: this.#table,
      background: NOTHING,
      soon: (callback) => this.#parts.later("gather", callback),
      release: async () => {},
    });
    const ledger = new Ledger(journal, 4);
    const onFailure = (error: HeadwaterError) => {
      this.head = null; // it accepts no more links
      if (error.code === "HW-3005") this.#parts.later("step down", () => this.#stepDown(log));
      else this.#parts.broken(error);
    };
    const service = runOn(
      portsOf(this.#parts),
      Bank,
      { onFailure, onError: () => {}, onWarning: () => {} },
      ledger,
    );
    this.head = { epoch: begun.epoch, service };
    this.#epoch(begun.epoch);
  }

  #stepDown(log: StreamLog): void {
    this.cluster.stepDowns += 1;
    this.head = null;
    if (this.#parts.plant === "overlay kept") {
      this.#follower = this.#follow(log.last);
    } else {
      this.#table = new MemoryTable();
      this.#follower = this.#follow(0);
    }
    if (this.#link !== null || this.#known === 0) return;
    this.#connect(this.#known);
  }
}

/** A link between a gateway and a head: in order, late, and broken now and then. */
class SimLink implements HeadLink {
  readonly #parts: SimClusterParts;
  readonly #relay: Relay;
  readonly #process: SimProcess;
  readonly #broke: () => void;
  #toHead: GatewayMessage[] = [];
  #fromHead: HeadMessage[] = [];
  #isClosed = false;

  constructor(process: SimProcess, service: AnyService, parts: SimClusterParts, broke: () => void) {
    this.#parts = parts;
    this.#process = process;
    this.#broke = broke;
    const door = service[DOOR];
    this.#relay = new Relay(door, `gateway:${process.name}`, (message) => {
      this.#fromHead.push(message);
      parts.later("link", () => this.#arrive());
    });
    process.gateway.attach(this, door.history);
  }

  send(message: GatewayMessage): void {
    const isNew = this.#parts.plant === "retried as new" && message.kind === "ask";
    this.#toHead.push(isNew ? { ...message, sentUpTo: 0 } : message);
    this.#parts.later("link", () => this.#depart());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#process.gateway.detach(this);
    this.#relay.close();
  }

  #depart(): void {
    const message = this.#toHead.shift();
    if (message === undefined || this.#isClosed) return;
    if (this.#parts.random.chance(0.005)) return this.#break();
    this.#relay.take(message);
  }

  #arrive(): void {
    const message = this.#fromHead.shift();
    if (message === undefined || this.#isClosed) return;
    if (this.#parts.random.chance(0.005)) return this.#break();
    this.#process.gateway.take(message);
  }

  #break(): void {
    this.close();
    this.#broke();
  }
}

function portsOf({ later, broken, random }: SimClusterParts): Ports {
  const now = 1000;
  return {
    now: () => now,
    timeOfDay: () => now,
    soon: (task) => queueMicrotask(task),
    atRest: (task) => queueMicrotask(() => process.nextTick(task)),
    at: () => () => {}, // a run is shorter than anything that is waited for
    append: (done) => done(),
    unique: () => String(random.bits()),
    broken,
    transmit: (_from, _to, arrive) => later("message", arrive),
  };
}
