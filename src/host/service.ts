import type { CommitOrder } from "../core/core.js";
import type { ElasticHosts } from "../elastic/elastic-hosts.js";
import type { LoadEvent } from "../elastic/load.js";
import { HeadwaterError } from "../errors.js";
import type { Durability, Journal } from "../journal/journal.js";
import type { Context, ContextClass } from "../model/context.js";
import type { DOOR, Door } from "../model/door.js";
import type { Ref } from "../model/refs.js";
import type { FactOf, FailedEvent, Kind, Observation, ObserveOptions, Observer } from "../observe/index.js";
import type { ProvisionOptions } from "../provision/options.js";
import type { CLUSTER, ClusterSide } from "./cluster-side.js";
import type { PlacementRules, ProgramHosts } from "./fleet/index.js";
import type { Inspector } from "./inspector.js";
import type { OpenLink } from "./link/index.js";
import type { ParkedEvents } from "./node/index.js";
import type { Past } from "./past.js";
import type { Limits } from "./ports/index.js";
import type { HistorySpan } from "./store/index.js";

export interface RunOptions {
  /**
   * `"observer"` (the default): an answer waits for its own event and those whose state it saw; each receiver
   * sees messages in ticket order. `"total"`: everything leaves in ticket order, as in the EventWave paper.
   */
  readonly commitOrder?: CommitOrder;
  readonly limits?: Partial<Limits>;
  /**
   * The directory of the program's journal, or the address of a log on NATS servers (docs/cluster.md). With one, nothing that was acknowledged is lost: started again, the
   * program goes on where it was. Without one, it begins anew. In tests, a `MemoryJournal` does for a directory; it
   * stays open when the service is stopped.
   */
  readonly journal?: string | Journal;
  /**
   * With a journal on NATS servers: what this process is in its cluster (docs/cluster.md). `name`: what it is called, and no other
   * member; its machine and process unless it says otherwise. `host`: the address of this machine at which other members reach it;
   * 127.0.0.1, for members on one machine, unless it says otherwise. `takesOver: false`: it takes requests, but never becomes the head.
   * `replicas`: how many processes run each owned engine that has a digest, as the graphs of the streaming service do (3). `snapshotBytes`: a standby makes a snapshot, and cuts the log, after so many bytes of it (256 MB). `restart`: called when
   * `headwater cluster roll` wants the process to end, after which something starts it again, with the new version of the program.
   */
  readonly member?: {
    readonly name?: string | undefined;
    readonly host?: string | undefined;
    readonly takesOver?: boolean | undefined;
    readonly snapshotBytes?: number | undefined;
    readonly replicas?: number | undefined;
    readonly restart?: (() => void) | undefined;
  };
  /**
   * With a journal on NATS servers: as many processes as the load needs, which the head adds and removes: `{ max: 4 }` (docs/elasticity.md).
   * To be given to each process that may become the head.
   */
  readonly provision?: ProvisionOptions;
  /**
   * With a journal on NATS servers: logical nodes that get a log of their own, with a head of its own, by the log's name:
   * `{ ledger: ["Bank", "Vault"] }`. The others stay in the cluster's own log. Different processes then give out the tickets of
   * different nodes at the same time; messages between nodes arrive once and in order as ever (docs/cluster.md).
   */
  readonly logs?: Readonly<Record<string, readonly string[]>>;
  /**
   * Take the journal over from the process that has it open, which can then commit nothing more and ends. Without this,
   * `run` is refused (HW-3024) while another process of this machine has the journal open.
   */
  readonly takeOver?: boolean;
  /**
   * Logical nodes that the program no longer has, and whose state in the journal is to be deleted: contexts, timers, events
   * and messages that are to run. Without this, removing a node that has state is refused (HW-3028).
   */
  readonly dropNodes?: readonly string[];
  /**
   * How much of the past the journal keeps, for `service.at(ticket)`, `headwater journal at` and `headwater replay`: a number of
   * tickets of each logical node, or a time such as `"1h"`, `"30m"`, `"10s"`. By default, none. A run without it ends the history.
   */
  readonly history?: number | string;
  /**
   * When an event counts as safe. `"synced"` (the default): the disk has it, it survives a crash of the machine.
   * `"written"`: the operating system has it, it survives a crash of the process only.
   */
  readonly durability?: Durability;
  /**
   * Hears that the journal takes no more: another process has taken it over, or the disk is full. Nothing can commit any
   * more, and every request is refused with this error; end the program. By default it becomes a process warning.
   */
  readonly onFailure?: (error: HeadwaterError) => void;
  /**
   * How many hosts run events. 1 (the default): everything runs in this thread, which is the fastest for small events.
   * More need `module`. `"cores"`: as many as there are cores. `{ min: 1, max: 4 }`: as many as the load needs
   * (docs/elasticity.md).
   */
  readonly hosts?: number | "cores" | ElasticHosts;
  /** Whether hosts are threads of this process (the default) or processes of their own; then also a single one. */
  readonly hostsAs?: "threads" | "processes";
  /**
   * A host whose event loop is blocked for longer is ended and replaced: 30 seconds unless it says otherwise. The thread of
   * the program itself cannot be replaced; its process is ended if `headwater run --supervise` starts it again.
   */
  readonly hostTimeoutMs?: number;
  /**
   * A host that takes longer to load the program is ended, and replaced; while the program starts, and when hosts are added,
   * it is refused with HW-6008. Ten times `hostTimeoutMs`, but at least 30 seconds, unless it says otherwise.
   */
  readonly hostStartTimeoutMs?: number;
  /** An event that waits for longer fails with HW-6007. By default it may take as long as it likes. */
  readonly eventTimeoutMs?: number;
  /** An event that runs longer is reported, with HW-6006, also one that blocks the thread of the program: 10 seconds unless it says otherwise. */
  readonly slowEventMs?: number;
  /** Hears of events that take too long, and of hosts that are lost and replaced. By default they become process warnings. */
  readonly onWarning?: (warning: HeadwaterError) => void;
  /** How much memory the heap of one host may take, in megabytes. A host that needs more ends, and is replaced. */
  readonly hostHeapMb?: number;
  /**
   * The address of the module that has the program as its default export, for hosts to load: `import.meta.url`, or an
   * absolute path.
   */
  readonly module?: string;
  /**
   * Hears of every event: when it was asked for, where it started, what it cost. Needs hosts, which measure that. A policy
   * can be tried under such a load before it goes live (docs/elasticity.md).
   */
  readonly onLoad?: (event: LoadEvent) => void;
  /** Which contexts are on which hosts, for programs that know better than hashing (docs/hosts.md). */
  readonly placement?: PlacementRules;
  /**
   * Hears of failed events without a caller in this process: started events, timers, messages, and requests
   * that came through a server. Of those, an error with a name of its own is an answer and not reported, and of the others
   * the first of a kind in a minute is. By default they become process warnings.
   */
  readonly onError?: (failed: FailedEvent) => void;
}

/** The root classes of a program with several logical nodes, under the nodes' names. */
export type Nodes = Readonly<Record<string, ContextClass<Context>>>;

type Roots<N extends Nodes> = { readonly [Name in keyof N]: Ref<InstanceType<N[Name]>> };

/** A running program of which only that is known. */
export interface AnyService extends Running {
  client(id: string, onMessage: (message: unknown) => void): Closable;
  as(asker: RequestedBy): object;
}

/** On whose behalf a request is made, and under which name. */
export interface RequestedBy {
  /** What the event sees as its caller. */
  readonly client?: string | undefined;
  /** Names the request: made again under the same name, it has its effect once and gets the first answer. */
  readonly request?: string | undefined;
}

export interface Running {
  /** For servers. */
  readonly [DOOR]: Door;
  /** For `hostsOf`. */
  readonly [HOSTS]: ProgramHosts | null;
  /** For hosts of other members of a cluster. */
  readonly [ADMIT]: AdmitHost | null;
  /** For services that keep something in each process of a cluster. */
  readonly [CLUSTER]: ClusterSide | null;
  /** For `parkedOf`. */
  readonly [PARKED]: ParkedEvents;
  /** For `inspectorOf`. */
  readonly [INSPECTOR]: Inspector;
  /**
   * Hands facts of these kinds to an observer as they happen: `service.observe(["event", "failure"], (fact) => …)`. It costs
   * nothing for kinds that nothing observes (docs/observing.md).
   */
  observe<K extends Kind>(
    kinds: readonly K[],
    observer: Observer<FactOf<K>>,
    options?: ObserveOptions,
  ): Observation;
  /**
   * The contexts of a program with a `history` as they were when the event with this ticket had committed, and no later one. A
   * program with several logical nodes says which one the ticket is of.
   */
  at(ticket: number, node?: string): Past;
  /** From which ticket to which `at` can be asked, by logical node; empty without a `history`. */
  history(): Readonly<Record<string, HistorySpan>>;
  /** Resolves when nothing is under way any more, armed timers aside. */
  idle(): Promise<void>;
  /** Resolves when requests are taken again, after some were refused with HW-1301. */
  room(): Promise<void>;
  /** Takes no more requests, answers those it has taken, and stops. What takes longer than `graceMs` is cut off. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A caller outside with a name: requests through its references carry it, and messages find it. */
interface Closable {
  readonly id: string;
  close(): void;
}

/** A running program with one logical node. */
export interface Service<R> extends Running {
  readonly root: Ref<R>;
  client<M = unknown>(id: string, onMessage: (message: M) => void): Closable & { readonly root: Ref<R> };
  /** A reference for one request on a caller's behalf. */
  as(asker: RequestedBy): { readonly root: Ref<R> };
}

/** A running program with several logical nodes. */
export interface NodeService<N extends Nodes> extends Running {
  readonly nodes: Roots<N>;
  client<M = unknown>(id: string, onMessage: (message: M) => void): Closable & { readonly nodes: Roots<N> };
  /** References for one request on a caller's behalf. */
  as(asker: RequestedBy): { readonly nodes: Roots<N> };
}

/** Under this name a running service has its hosts, so that they hide no other name. */
export const HOSTS: unique symbol = Symbol("hosts");

/** The hosts of a running program, to look at them, to add and remove some, and to move contexts between them. */
export function hostsOf(service: Pick<Running, typeof HOSTS>): ProgramHosts {
  const hosts = service[HOSTS];
  if (hosts) return hosts;
  throw new HeadwaterError(
    "HW-6014",
    "the program runs in one thread, so it has no hosts between which anything could move. Start it with more: " +
      "`run(Game, { hosts: 2, module: import.meta.url })`.",
  );
}

/** Lets a host of another process join; resolves when it takes events. */
export type AdmitHost = (open: OpenLink) => Promise<void>;

/** Under this name it lets hosts join that have come by themselves, if it runs on hosts at all. */
export const ADMIT: unique symbol = Symbol("admit");

/** Under this name it has the events that it has parked. */
export const PARKED: unique symbol = Symbol("parked");

/** The events of a running program that end every host they run on: to look at them, run them again or drop them. */
export function parkedOf(service: Pick<Running, typeof PARKED>): ParkedEvents {
  return service[PARKED];
}

/** Under this name it has what lets its contexts be looked at. */
export const INSPECTOR: unique symbol = Symbol("inspector");

/** The contexts of a running program, for tools that show them. Looking changes nothing. */
export function inspectorOf(service: Pick<Running, typeof INSPECTOR>): Inspector {
  return service[INSPECTOR];
}
