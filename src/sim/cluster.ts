import type { Marks } from "../core/marks.js";
import { Placement } from "../elastic/placement.js";
import { DEFAULT_LIMITS } from "../host/limits.js";
import type { Program } from "../host/program.js";
import type { Hosts } from "../host/remote.js";
import { Site } from "../host/site.js";
import type { Slot } from "../host/slot.js";
import type { ToHead, ToHost } from "../host/wire.js";
import type { ContextClass } from "../model/context.js";
import { decode, encode } from "../state/codec.js";
import type { Random } from "./random.js";

type Later = (what: string, happen: () => void) => void;

/** What a simulated cluster needs of its world. */
export interface Surroundings {
  readonly classes: Readonly<Record<string, ContextClass>>;
  readonly random: Random;
  readonly marks: Marks;
  readonly isDurable: boolean;
  later: Later;
  soon(task: () => void): void;
  broken(error: unknown): void;
  program(): Program;
}

/** One direction of a connection: what is sent arrives in order, some time, a few messages at once. */
class Link<M> {
  readonly #queue: Uint8Array[] = [];
  #isCut = false;

  constructor(
    readonly random: Random,
    readonly later: Later,
    readonly arrive: (message: M) => void,
  ) {}

  send(message: M): void {
    if (this.#isCut) return;
    this.#queue.push(encode(message));
    if (this.#queue.length === 1) this.later("link", () => this.#deliver());
  }

  cut(): void {
    this.#isCut = true;
    this.#queue.length = 0;
  }

  #deliver(): void {
    if (this.#isCut) return;
    const some = this.#queue.splice(0, 1 + this.random.int(this.#queue.length));
    if (this.#queue.length > 0) this.later("link", () => this.#deliver());
    for (const bytes of some) this.arrive(decode(bytes) as M);
  }
}

/** One life of a host: its contexts, and its connections to the head. */
interface SimHost {
  readonly life: number;
  readonly site: Site;
  readonly down: Link<ToHost>;
  readonly up: Link<ToHead>;
  /** What it was about to do. */
  isDead: boolean;
}

/** The hosts of a simulated program, in one process, with simulated connections to the head. */
export class Cluster implements Hosts {
  readonly #around: Surroundings;
  readonly #hosts = new Map<number, SimHost>();
  readonly #placement: Placement;
  readonly #move: number;
  #movesLeft: number;
  readonly #crash: number;
  #crashesLeft: number;
  #lives = 0;

  constructor(around: Surroundings) {
    this.#around = around;
    const { random, isDurable } = around;
    const count = 2 + random.int(3);
    this.#placement = new Placement(
      Array.from({ length: count }, (_, host) => host),
      random.pick([1, 2, 9]),
    );
    this.#move = random.pick([0, 0.01, 0.05]);
    this.#movesLeft = random.int(20);
    this.#crash = random.pick([0, 0.002, 0.01]);
    this.#crashesLeft = isDurable ? random.int(6) : 0;
    for (let host = 0; host < count; host++) this.#begin(host);
  }

  get sites(): Site[] {
    return [...this.#hosts.values()].map(({ site }) => site);
  }

  #begin(host: number): void {
    const { classes, random, marks, isDurable, later, soon, broken, program } = this.#around;
    this.#lives += 1;
    const whileAlive: Later = (what, happen) => later(what, () => started.isDead || happen());
    const site = new Site(
      classes,
      {
        soon: (task) => soon(() => started.isDead || task()),
        broken: (error) => started.isDead || broken(error),
        run: (task) => whileAlive("run", task),
        send: (message) => started.up.send(message),
      },
      { limits: DEFAULT_LIMITS, marks, isDurable },
    );
    const started: SimHost = {
      life: this.#lives,
      site,
      down: new Link<ToHost>(random, later, (message) => site.receive(message)),
      up: new Link<ToHead>(random, later, (message) => program().node(message.node).heard(host, message)),
      isDead: false,
    };
    this.#hosts.set(host, started);
  }

  /** Now and then a host crashes. It starts again, or others take over what it had. */
  maybeCrash(): void {
    const { random, marks, program } = this.#around;
    if (this.#crashesLeft === 0 || !random.chance(this.#crash)) return;
    this.#crashesLeft -= 1;
    marks.hit("a host crashed");
    const host = random.pick([...this.#hosts.keys()]);
    const lost = this.#hosts.get(host) as SimHost;
    lost.isDead = true;
    lost.up.cut();
    lost.down.cut();
    if (this.#hosts.size > 1 && random.chance(0.5)) {
      this.#hosts.delete(host);
      this.#placement.remove(host);
    } else this.#begin(host);
    for (const node of program().nodes.values()) node.hostLost(host);
  }

  /** Now and then somebody moves a context. */
  maybeMove(): void {
    const { random, marks, program } = this.#around;
    if (this.#movesLeft === 0 || !random.chance(this.#move)) return;
    this.#movesLeft -= 1;
    marks.hit("a context was moved");
    const node = random.pick([...program().nodes.values()]);
    let slot = node.root;
    for (let below = [...slot.made()]; below.length > 0 && random.chance(0.7); below = [...slot.made()]) {
      slot = random.pick(below);
    }
    if (slot.shape.anonymous) return;
    node.move(slot, random.pick([...this.#hosts.keys()]), { resolve: () => {}, reject: () => {} });
  }

  of(slot: Slot): number {
    return this.#placement.of(slot);
  }

  place(slot: Slot, host: number): void {
    if (this.#hosts.has(host)) this.#placement.move(slot, host);
  }

  life(host: number): number {
    return this.#hosts.get(host)?.life ?? 0;
  }

  send(host: number, message: ToHost): void {
    this.#hosts.get(host)?.down.send(message);
  }
}
