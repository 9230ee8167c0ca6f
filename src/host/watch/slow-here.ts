import type { HeadwaterError } from "../../errors.js";
import { Execution, SlowReports, tookTooLong } from "../event/index.js";
import type { LogicalNode } from "../node/index.js";
import type { Patience } from "../ports/index.js";

/**
 * Events that take too long in the thread of the program itself, because they wait for something. They are looked at now and
 * then: an event costs nothing more for it.
 */
export class SlowHere {
  /** Since when each attempt has been seen, in looks, and whether it was reported. */
  #seen = new Map<Execution, { readonly since: number; isReported: boolean }>();
  #looks = 0;
  readonly #reports: SlowReports;

  constructor(
    readonly nodes: () => Iterable<LogicalNode>,
    readonly patience: Patience,
    warn: (warning: HeadwaterError) => void,
  ) {
    this.#reports = new SlowReports(warn);
  }

  look(): void {
    this.#looks += 1;
    const before = this.#seen;
    this.#seen = new Map();
    for (const node of this.nodes()) {
      for (const { payload } of node.unsettled()) {
        const { execution } = payload;
        if (!(execution instanceof Execution) || execution.isDead) continue;
        const seen = before.get(execution) ?? { since: this.#looks, isReported: false };
        this.#seen.set(execution, seen);
        this.#lookAt(execution, seen);
      }
    }
    this.#reports.end();
  }

  #lookAt(execution: Execution, seen: { readonly since: number; isReported: boolean }): void {
    const { lookMs, eventMs, eventMsMax } = this.patience;
    const ms = (this.#looks - seen.since) * lookMs;
    if (ms >= eventMs && !seen.isReported) {
      seen.isReported = true;
      this.#reports.report(() => nameOf(execution), `has been running for ${ms} ms, and waits.`);
    }
    if (eventMsMax !== null && ms >= eventMsMax) execution.giveUp(tookTooLong(nameOf(execution), ms));
  }
}

function nameOf({ request: { slot, method } }: Execution): string {
  return `${slot}.${method.name}(…)`;
}
