import type { Ticket } from "../../core/event.js";
import type { Marks } from "../../core/marks.js";
import type { Plant } from "../../core/plants.js";
import { Placement } from "../../elastic/placement.js";
import { invariant } from "../../errors.js";
import type { Slot } from "../../host/context/index.js";
import { Fleet, type HostPool, type HostStatus } from "../../host/fleet/index.js";
import { Heads, type Hosts, Quarantine, UNKNOWN } from "../../host/head/index.js";
import type { Program } from "../../host/node/index.js";
import type { HostId, Limits } from "../../host/ports/index.js";
import { HostSite } from "../../host/site/index.js";
import type { ToHead, ToHost } from "../../host/wire/index.js";
import type { ContextClass } from "../../model/context.js";
import { pathOf, resolvePath } from "../../model/path.js";
import type { Random } from "../../random.js";
import { SimLink } from "./link.js";

type Later = (what: string, happen: () => void) => void;

/** What a simulated cluster needs of its world. */
export interface ClusterSurroundings {
  /** What a host loads when it begins. */
  classes(): Readonly<Record<string, ContextClass>>;
  readonly random: Random;
  readonly marks: Marks;
  readonly plant: Plant | undefined;
  readonly isDurable: boolean;
  readonly limits: Limits;
  later: Later;
  soon(task: () => void): void;
  atRest(task: () => void): void;
  broken(error: unknown): void;
  /** Runs code of the program. */
  within(task: () => void): void;
  program(): Program;
  /** A host has ended on which there was nothing but this event. */
  lostAlone(node: string, ticket: Ticket): void;
}

/** More than the longest time that an event can keep a host to itself. */
const LOOKS_MAX = 2 ** 15;

/** One life of a host: its contexts, and its connections to the head. */
interface SimHost {
  readonly life: number;
  readonly site: HostSite;
  readonly down: SimLink<ToHost>;
  readonly up: SimLink<ToHead>;
  /** What it was about to do. */
  isDead: boolean;
  /** Did a caller outside ask for the event that it began last? */
  isInRequest: boolean;
}

const HOSTS_MAX = 6;

/** The hosts of a simulated program, in one process, with simulated connections to the head. */
export class Cluster implements Hosts, HostPool {
  readonly placement: Placement<HostId>;
  readonly quarantine = new Quarantine();
  readonly heads = new Heads(this);
  readonly #around: ClusterSurroundings;
  readonly #hosts = new Map<HostId, SimHost>();
  #fleet: Fleet | null = null;
  readonly #move: number;
  #movesLeft: number;
  readonly #change: number;
  #changesLeft: number;
  readonly #crash: number;
  #crashesLeft: number;
  #lives = 0;
  /** Whose code runs at this moment. */
  #current: SimHost | null = null;
  /** How many hosts were lost: each loss restarts events. */
  hostsLost = 0;

  constructor(around: ClusterSurroundings) {
    this.#around = around;
    const { random, isDurable } = around;
    const count = 2 + random.int(3);
    this.placement = new Placement<HostId>(
      Array.from({ length: count }, (_, host) => host as HostId),
      random.pick([1, 2, 9, 9]),
    );
    this.#move = random.pick([0, 0.01, 0.05]);
    this.#movesLeft = random.int(20);
    this.#change = random.pick([0, 0.002, 0.01]);
    this.#changesLeft = random.int(8);
    this.#crash = random.pick([0, 0.002, 0.01]);
    this.#crashesLeft = isDurable ? random.pick([0, 3, 12]) : 0;
    for (let host = 0; host < count; host++) this.#begin(host as HostId);
  }

  get sites(): HostSite[] {
    return [...this.#hosts.values()].map(({ site }) => site);
  }

  #begin(host: HostId): void {
    const { classes, limits, random, marks, isDurable, later, soon, atRest, broken, within, program } =
      this.#around;
    this.#lives += 1;
    const site = new HostSite(
      classes(),
      {
        soon: (task) => soon(() => this.#within(started, task)),
        atRest: (task) => atRest(() => this.#within(started, task)),
        broken: (error) => started.isDead || broken(error),
        run: (task) => later("run", () => this.#within(started, () => within(task))),
        begins: ({ payload }) => {
          started.isInRequest = payload.origin.kind === "request";
        },
        send: (message) => started.up.send(message),
      },
      { limits, marks, plant: this.#around.plant, isDurable, unmadeInMemory: 1 },
    );
    const started: SimHost = {
      life: this.#lives,
      site,
      down: new SimLink<ToHost>(
        random,
        later,
        () => site.roots,
        (message) => this.#within(started, () => site.receive(message)),
      ),
      up: new SimLink<ToHead>(
        random,
        later,
        () => program().roots,
        (message) => this.heads.of(message.node).heard(host, message),
      ),
      isDead: false,
      isInRequest: true,
    };
    this.#hosts.set(host, started);
  }

  #within(host: SimHost, task: () => void): void {
    if (host.isDead) return;
    const before = this.#current;
    this.#current = host;
    task();
    this.#current = before;
  }

  /** It takes a while until a new host takes events. */
  begin(host: HostId): Promise<void> {
    return new Promise((resolve) => {
      this.#around.later("host", () => {
        this.#begin(host);
        this.#around.marks.hit("a host was added");
        resolve();
      });
    });
  }

  kill(host: HostId): void {
    this.#lose(host, true);
  }

  async end(host: HostId): Promise<void> {
    this.#around.marks.hit("a host was removed");
    this.#cutOff(host);
    this.#hosts.delete(host);
  }

  /** Simulated hosts are ready as soon as they are there. */
  status(host: HostId): HostStatus | null {
    return this.#hosts.has(host) ? { isReady: true, restarts: 0, member: null } : null;
  }

  /** What happens in the simulated world and to whom it happens is not measured. */
  load(): null {
    return null;
  }

  #cutOff(host: HostId): SimHost {
    const lost = this.#hosts.get(host) as SimHost;
    lost.up.cut();
    lost.down.cut();
    return lost;
  }

  get #controls(): Fleet {
    this.#fleet ??= new Fleet(this, this.#around.program());
    return this.#fleet;
  }

  /**
   * Now and then a host crashes, or its connection breaks: then it goes on, and is heard no more. It starts again, or
   * others take over what it had.
   */
  maybeCrash(): void {
    const { random } = this.#around;
    if (this.#crashesLeft === 0 || !random.chance(this.#crash)) return;
    this.#crashesLeft -= 1;
    this.#lose(random.pick([...this.#hosts.keys()]), random.chance(0.7));
  }

  /** While nothing else happens, heartbeats go on, by which the time of a quarantine ends. Says whether something can happen then. */
  lookUntil(canHappen: () => boolean): boolean {
    for (let looks = 0; looks < LOOKS_MAX && this.quarantine.isActive && !canHappen(); looks++)
      for (const host of this.#hosts.keys()) this.quarantine.look(host);
    return canHappen();
  }

  get isInRequest(): boolean {
    return this.#current?.isInRequest ?? true;
  }

  /** The code that runs at this moment ends its host. Says whether it could: in time, without a journal, it cannot. */
  endCurrent(): boolean {
    const { isDurable, marks } = this.#around;
    const [host] = [...this.#hosts].find(([, each]) => each === this.#current) ?? [];
    if (!isDurable || host === undefined) return false;
    marks.hit("an event ended its host");
    this.#lose(host, true);
    return true;
  }

  #lose(host: HostId, isDead: boolean): void {
    const { random, marks, lostAlone } = this.#around;
    this.hostsLost += 1;
    this.#noteWhoWasThere(host, lostAlone);
    const lost = this.#cutOff(host);
    lost.isDead = isDead;
    marks.hit(isDead ? "a host crashed" : "a connection to a host was lost");
    const { hosts } = this.placement; // hosts that still start take nothing over
    const isReplaced = hosts.length === 1 || !hosts.includes(host) || random.chance(0.5);
    if (isReplaced) this.#begin(host);
    else {
      this.#controls.lost(host);
      this.#hosts.delete(host);
    }
    for (const head of this.heads.all) head?.hostLost(host, UNKNOWN, "it crashed");
    if (isReplaced) this.quarantine.replaced(host);
    else this.quarantine.forget(host);
  }

  #noteWhoWasThere(host: HostId, lostAlone: (node: string, ticket: Ticket) => void): void {
    const there = this.heads.all.flatMap((head) =>
      [...(head?.slow.runs.values() ?? [])]
        .filter(({ isDead, hosts }) => !isDead && hosts.includes(host))
        .map(({ event }) => ({ name: event.payload.slot.node, ticket: event.ticket })),
    );
    const [only] = there;
    if (only !== undefined && there.length === 1) lostAlone(only.name, only.ticket);
  }

  /** Now and then an operator adds, drains or removes a host. */
  maybeChange(): void {
    const { random, marks } = this.#around;
    if (this.#changesLeft === 0 || !random.chance(this.#change)) return;
    this.#changesLeft -= 1;
    const host = random.pick([...this.#hosts.keys()]);
    const change = random.pick(["add", "drain", "remove", "remove", "rule"]);
    if (change === "rule") this.#changeRules(host);
    else if (change === "add") {
      if (this.#hosts.size < HOSTS_MAX) void this.#controls.add(1 + random.int(2)).catch(() => {});
    } else if (change === "drain") {
      void this.#controls.drain(host).then(
        () => marks.hit("a host was drained"),
        () => {},
      );
    } else void this.#controls.remove(host).catch(() => {});
  }

  /** Contexts are pinned to a host, or not any more, or placed by themselves. */
  #changeRules(host: HostId): void {
    const { random, marks, program } = this.#around;
    marks.hit("a rule of placement was changed");
    const slot = this.#someContext(random.pick([...program().nodes.values()]).root);
    const hosts = this.#controls;
    const pattern = String(slot).replace(/\([^(]*\)$/, "(*)");
    const change = random.pick([
      () => hosts.pin(pattern, host),
      () => hosts.unpin(pattern),
      () => hosts.separate(slot.shape.cls),
      () => hosts.colocate(({ type, key }) => (type === slot.shape.cls ? String(key).length : undefined)),
    ]);
    void change().catch(() => {});
  }

  #someContext(root: Slot): Slot {
    const { random } = this.#around;
    let slot = root;
    for (let below = [...slot.made()]; below.length > 0 && random.chance(0.7); below = [...slot.made()]) {
      slot = random.pick(below);
    }
    return slot;
  }

  /** Now and then an operator moves a context. */
  maybeMove(): void {
    const { random, marks, program } = this.#around;
    if (this.#movesLeft === 0 || !random.chance(this.#move)) return;
    this.#movesLeft -= 1;
    const node = random.pick([...program().nodes.values()]);
    const slot = this.#someContext(node.root);
    if (slot.shape.anonymous) return;
    const move = { to: random.pick([...this.#hosts.keys()]), isRequested: random.chance(0.7) };
    this.heads
      .of(node.name)
      .move(slot, move, { resolve: () => marks.hit("a context was migrated"), reject: () => {} });
  }

  /** Moves that have not ended. When nothing can happen any more, each of them would wait for ever. */
  stuck(): string[] {
    const moves = this.heads.all.reduce((sum, head) => sum + (head?.openMoves ?? 0), 0);
    return moves === 0 ? [] : [`${moves} moves under way`];
  }

  /** When nothing moves any more: hosts have in memory what the head knows of, and nothing else. */
  check(): void {
    for (const [host, { life, site }] of this.#hosts) {
      for (const [node, root] of site.roots) {
        for (const slot of inMemory(root)) {
          const { residence } = resolvePath(this.#around.program().node(node).root, pathOf(slot));
          invariant(
            residence.life === life,
            `host ${host} has ${slot} in memory, and the head does not know it`,
          );
        }
      }
    }
  }

  of(slot: Slot): HostId {
    return this.placement.of(slot);
  }

  life(host: HostId): number {
    return this.#hosts.get(host)?.life ?? 0;
  }

  send(host: HostId, message: ToHost): void {
    this.#hosts.get(host)?.down.send(message);
  }

  stream(host: HostId, messages: Iterator<ToHost>): void {
    this.#hosts.get(host)?.down.stream(messages);
  }
}

function* inMemory(slot: Slot): Iterable<Slot> {
  if (slot.exists && !slot.shape.anonymous) yield slot;
  for (const child of slot.made()) yield* inMemory(child);
}
