import { invariant } from "../../errors.js";
import type { Runners, Scheduler } from "../runner/index.js";
import type { Hosts } from "./hosts.js";
import { Remote } from "./remote.js";

/** The heads of a program's logical nodes, in the order of the nodes. */
export class Heads implements Runners {
  readonly #hosts: Hosts;
  readonly #all = new Map<string, Remote>();
  /** Most programs have one logical node, and its head is asked for with each message. */
  #lastAsked: Remote | null = null;

  constructor(hosts: Hosts) {
    this.#hosts = hosts;
  }

  runnerFor(scheduler: Scheduler): Remote {
    const head = new Remote(scheduler, this.#hosts);
    this.#all.set(scheduler.name, head);
    this.#lastAsked = null;
    return head;
  }

  of(node: string): Remote {
    if (this.#lastAsked?.name === node) return this.#lastAsked;
    const head = this.#all.get(node);
    invariant(head !== undefined, `the logical node "${node}" has no head`);
    this.#lastAsked = head;
    return head;
  }

  /** All of them; null in the place of one that has been halted. */
  get all(): readonly (Remote | null)[] {
    return [...this.#all.values()].map((head) => (head.isHalted ? null : head));
  }
}
