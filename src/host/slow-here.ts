import { HeadwaterError } from "../errors.js";
import { Execution } from "./execution.js";
import type { LogicalNode } from "./node.js";
import type { Patience } from "./patience.js";

/**
 * Events that take too long in the thread of the program itself, because they wait for something. They are looked at now and
 * then: an event costs nothing more for it.
 */
export class SlowHere {
  /** Since when each try has been seen, in looks, and whether it was reported. */
  #seen = new Map<Execution, { readonly since: number; isReported: boolean }>();
  #looks = 0;

  constructor(
    readonly nodes: () => Iterable<LogicalNode>,
    readonly patience: Patience,
    readonly warn: (warning: HeadwaterError) => void,
  ) {}

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
  }

  #lookAt(execution: Execution, seen: { readonly since: number; isReported: boolean }): void {
    const { lookMs, eventMs, eventMsMax } = this.patience;
    const ms = (this.#looks - seen.since) * lookMs;
    const { slot, method } = execution.request;
    const name = `${slot}.${method.name}(…)`;
    if (ms >= eventMs && !seen.isReported) {
      seen.isReported = true;
      this.warn(new HeadwaterError("HW-6006", `${name} has been running for ${ms} ms, and waits.`));
    }
    if (eventMsMax !== null && ms >= eventMsMax) execution.giveUp(tookTooLong(name, ms));
  }
}

export function tookTooLong(event: string, ms: number): HeadwaterError {
  const why = "Look for what it waits for, or raise `eventTimeoutMs`.";
  return new HeadwaterError("HW-6007", `${event} was given up after ${ms} ms. ${why}`);
}
