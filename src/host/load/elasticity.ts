import { balanced } from "../../elastic/balance.js";
import { described } from "../../elastic/elastic-hosts.js";
import type { Action, Decision, Measurements, Policy } from "../../elastic/policy.js";
import type { Fleet } from "../fleet/index.js";
import type { Meter } from "./meter.js";

/** Asks a policy, time and again, what to do about the hosts, and does it: one thing at a time. */
export class Elasticity {
  readonly #fleet: Fleet;
  readonly #meter: Meter;
  readonly #policy: Policy;
  readonly #onDecision: (decision: Decision) => void;
  #isBusy = false;
  #isStopped = false;

  constructor(fleet: Fleet, meter: Meter, policy: Policy, onDecision: (decision: Decision) => void) {
    this.#fleet = fleet;
    this.#meter = meter;
    this.#policy = policy;
    this.#onDecision = onDecision;
  }

  /** To be called about once a second, when hosts have been measured. */
  async look(now: Measurements): Promise<void> {
    if (this.#isBusy || this.#isStopped) return;
    this.#isBusy = true;
    try {
      for (const action of this.#wanted(now)) await this.#carryOut(action, now);
    } finally {
      this.#isBusy = false;
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #wanted(now: Measurements): readonly Action[] {
    try {
      return this.#policy(now);
    } catch (error) {
      this.#onDecision({
        action: { kind: "note", reason: "" },
        text: `the policy threw: ${reasonOf(error)}`,
        error,
      });
      return [];
    }
  }

  async #carryOut(action: Action, now: Measurements): Promise<void> {
    if (this.#isStopped) return;
    const text = `${described(action)}: ${action.reason}`;
    this.#onDecision({ action, text, error: null });
    try {
      await this.#do(action, now);
    } catch (error) {
      if (!this.#isStopped)
        this.#onDecision({ action, text: `${text}; that failed: ${reasonOf(error)}`, error });
    }
  }

  async #do(action: Action, now: Measurements): Promise<void> {
    switch (action.kind) {
      case "add":
        await this.#fleet.add(action.count);
        return this.#fleet.settled();
      case "remove":
        return this.#fleet.remove(action.host);
      case "move":
        return this.#move(action.context, action.to);
      case "balance":
        for (const { context, to } of balanced(now, action.by).moves) await this.#move(context, to);
        return;
      case "note":
    }
  }

  /** A policy may also name one that has done nothing lately, and was not measured. */
  async #move(context: string, to: number): Promise<void> {
    const slot = this.#meter.named(context);
    if (slot === undefined) await this.#fleet.move(context, to);
    else await this.#fleet.moveSlot(slot, to);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
