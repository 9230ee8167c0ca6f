import { clearUpTo } from "../../core/next-in-line.js";
import { added } from "../../core/ready.js";
import type { NodeEvent } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import type { Hosts } from "./hosts.js";
import { RemoteRun } from "./remote-run.js";

/** Attempts of which each stands behind the one before it, on one host. */
export interface Chain {
  last: RemoteRun;
  /** How many of them wait for their turn. */
  length: number;
}

const NONE: readonly never[] = [];

/** So many events that wait behind an event in its context go to its host along with it. */
const PIPELINED_MAX = 16;

/**
 * Pipelined events: while an event runs, events that wait only for it, in the same context, go to the host that it
 * runs on. The host starts the next one by itself when the one before is over: when nothing of that can be taken back.
 * Otherwise, it waits until the head says so.
 */
export class Pipelining {
  constructor(readonly hosts: Hosts) {}

  /** The present attempt at an event, if it was pipelined and its turn had not come. */
  sent(event: NodeEvent): RemoteRun | null {
    const run = event.payload.execution as RemoteRun | null;
    return run !== null && run.behind !== null && run.attempt === event.attempt && !run.isRolledBack
      ? run
      : null;
  }

  /** The turn of a pipelined event has come. */
  caughtUp(run: RemoteRun): void {
    run.behind = null;
    if (run.chain !== null) run.chain.length -= 1;
  }

  /** New attempts at events that can be pipelined behind this one, and behind the events that are there already. */
  after(event: NodeEvent, run: RemoteRun, host: HostId): readonly RemoteRun[] {
    const chain = this.#chainOf(run);
    let next = chain.last.event.next;
    if (next === null || chain.length >= PIPELINED_MAX) return NONE;
    const clear = clearUpTo(event.context);
    let made: RemoteRun[] | null = null;
    for (; next !== null && chain.length < PIPELINED_MAX; next = next.next) {
      if (next.ticket >= clear || !this.#mayGo(next)) break;
      const ahead = new RemoteRun(next, next.attempt, this.hosts, host);
      ahead.behind = chain.last;
      ahead.chain = chain;
      next.payload.execution = ahead;
      chain.last = ahead;
      chain.length += 1;
      made = added(made, ahead);
    }
    return made ?? NONE;
  }

  #mayGo(event: NodeEvent): boolean {
    const { migration, record } = event.payload;
    if (event.status !== "waiting" || event.views !== null || migration !== null || record !== null)
      return false;
    return this.sent(event) === null;
  }

  /** Events pipelined behind this one. If the last of them was undone, so were all. */
  #chainOf(run: RemoteRun): Chain {
    const { chain } = run;
    if (chain !== null && chain.last !== run && this.sent(chain.last.event) === chain.last) return chain;
    if (chain !== null && chain.last === run) chain.length = 0;
    else run.chain = { last: run, length: 0 };
    return run.chain as Chain;
  }
}
