import { HeadwaterError } from "../errors.js";
import { feasible, ON_TRIAL, type Surveyor } from "./actions.js";
import { type Bounds, type KeepOptions, keep } from "./keep.js";
import type { Action, Decision, Policy } from "./policy.js";

/** As many hosts as the load needs. */
export interface ElasticHosts extends Pick<KeepOptions, "inARow" | "coolDownMs" | "doubles"> {
  /** Never fewer (1). A program starts with so many. */
  readonly min?: number;
  /** Never more. */
  readonly max: number;
  /** What to keep between which bounds; by default hosts are to be busy from 0.3 to 0.7 of their time. */
  readonly keep?: Bounds;
  /** A policy of one's own instead. `min` and `max` hold for it, too. */
  readonly policy?: Policy;
  /** Hears of everything that is done about the hosts, and why. */
  readonly onDecision?: (decision: Decision) => void;
}

const DEFAULT_BOUNDS: Bounds = { utilisation: [0.3, 0.7] };

export function policyOf(options: ElasticHosts, surveyor: Surveyor = ON_TRIAL): Policy {
  const { policy, keep: bounds = DEFAULT_BOUNDS, onDecision: _, ...others } = options;
  if (policy === undefined) return keep({ ...bounds, ...others });
  keep({ ...DEFAULT_BOUNDS, ...others }); // for its checks
  if (typeof policy !== "function") {
    throw new HeadwaterError("HW-6021", "a policy is a function from measurements to a list of actions.");
  }
  return within(feasible(policy, surveyor), options.min ?? 1, options.max);
}

/** Of what a policy wants, only what leaves the number of hosts between these. */
function within(policy: Policy, min: number, max: number): Policy {
  return (now) => {
    let count = now.hosts.filter(({ state }) => state !== "draining").length;
    if (count < min) return [{ kind: "add", count: min - count, reason: `there are to be ${min} at least` }];
    return policy(now).flatMap((action): Action[] => {
      if (action.kind === "add") {
        const allowed = Math.min(action.count, max - count);
        count += Math.max(0, allowed);
        return allowed > 0 ? [{ ...action, count: allowed }] : [];
      }
      if (action.kind === "remove") {
        if (count <= min) return [];
        count -= 1;
      }
      return [action];
    });
  };
}

/** An action in a few words, without its reason. */
export function described(action: Action): string {
  switch (action.kind) {
    case "add":
      return action.count === 1 ? "a host is added" : `${action.count} hosts are added`;
    case "remove":
      return `host ${action.host} is removed`;
    case "move":
      return `${action.context} moves to host ${action.to}`;
    case "balance":
      return `contexts are spread anew by their ${action.by === "load" ? "load" : "size"}`;
    case "note":
      return "nothing is done";
  }
}
