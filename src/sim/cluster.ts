import type { Marks } from "../core/marks.js";
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

/** One direction of a connection: what is sent arrives in order, some time, a few messages at once. */
class Link<M> {
  readonly #queue: Uint8Array[] = [];

  constructor(
    readonly random: Random,
    readonly later: Later,
    readonly arrive: (message: M) => void,
  ) {}

  send(message: M): void {
    this.#queue.push(encode(message));
    if (this.#queue.length === 1) this.later("link", () => this.#deliver());
  }

  #deliver(): void {
    const some = this.#queue.splice(0, 1 + this.random.int(this.#queue.length));
    if (this.#queue.length > 0) this.later("link", () => this.#deliver());
    for (const bytes of some) this.arrive(decode(bytes) as M);
  }
}

/** The hosts of a simulated program, in one process, with simulated connections to the head. */
export class Cluster implements Hosts {
  readonly sites: Site[] = [];
  readonly #links: Link<ToHost>[] = [];
  readonly #depth: number;
  readonly #salt: number;

  constructor(
    classes: Readonly<Record<string, ContextClass>>,
    random: Random,
    later: Later,
    soon: (task: () => void) => void,
    broken: (error: unknown) => void,
    program: () => Program,
    marks: Marks,
    isDurable: boolean,
  ) {
    const count = 2 + random.int(3);
    this.#depth = random.pick([1, 2, 9]);
    this.#salt = random.bits();
    for (let host = 0; host < count; host++) {
      const up = new Link<ToHead>(random, later, (message) =>
        program().node(message.node).heard(host, message),
      );
      const site = new Site(
        classes,
        { soon, broken, run: (task) => later("run", task), send: (message) => up.send(message) },
        { limits: DEFAULT_LIMITS, marks, isDurable },
      );
      this.sites.push(site);
      this.#links.push(new Link<ToHost>(random, later, (message) => site.receive(message)));
    }
  }

  /** Subtrees down to some depth are spread over the hosts; what is below stays with its parent. */
  of(slot: Slot): number {
    let at = slot;
    while (at.depth > this.#depth && at.parent !== null) at = at.parent;
    let hash = this.#salt;
    for (const char of `${at.node} ${at}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
    return (hash >>> 0) % this.sites.length;
  }

  life(host: number): number {
    return host + 1;
  }

  send(host: number, message: ToHost): void {
    this.#links[host]?.send(message);
  }
}
