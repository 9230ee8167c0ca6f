import { HeadwaterError } from "../errors.js";
import { type Action, type Measurements, type Policy, running } from "./policy.js";

/** What a policy's actions are measured by. */
export interface Surveyor {
  /** Why a context cannot be migrated to a host, if so. */
  cannotMove(context: string, to: number, now: Measurements): string | null;
  /** Hears of an action that cannot be carried out; of each kind once. */
  report(problem: HeadwaterError): void;
}

/** Where a policy is only tried: what it gets wrong ends the trial. */
export const ON_TRIAL: Surveyor = {
  cannotMove: (context, _, { hosts }) =>
    hosts.some(({ contexts }) => contexts.some((each) => each.context === context))
      ? null
      : `no context ${JSON.stringify(context)} was measured`,
  report: (problem) => {
    throw problem;
  },
};

const KINDS = ["add", "remove", "move", "balance", "note"] as const satisfies Action["kind"][];
const WEIGHTS = ["load", "bytes"];
/** A policy that errs in more ways than this is not listened to in each of them. */
const KINDS_OF_PROBLEMS_MAX = 100;

type Fields = Readonly<Record<string, unknown>>;

/** Of what a policy wants, only what can be done: an action that will not be carried out is not reported, but the reason is. */
export function feasible(policy: Policy, surveyor: Surveyor): Policy {
  const reported = new Set<string>();
  const report = (problem: string) => {
    const kind = problem.replace(/[\d.]+/g, "");
    if (reported.has(kind) || reported.size === KINDS_OF_PROBLEMS_MAX) return;
    reported.add(kind);
    surveyor.report(new HeadwaterError("HW-6023", `the policy asks for what cannot be done: ${problem}.`));
  };
  return (now) => {
    const wanted: unknown = policy(now);
    if (!Array.isArray(wanted)) {
      const given = wanted instanceof Promise ? "a promise" : shown(wanted);
      report(`it returned ${given}, and should return a list of actions, at once; to do nothing, \`[]\``);
      return [];
    }
    return wanted.flatMap((action: unknown): Action[] => {
      const problem = problemOf(action, now, surveyor);
      if (problem !== null) report(problem);
      return problem === null ? [action as Action] : [];
    });
  };
}

function problemOf(action: unknown, now: Measurements, surveyor: Surveyor): string | null {
  if (typeof action !== "object" || action === null) return `${shown(action)} is no action`;
  const { kind, count, host, context, to, by, reason } = action as Fields;
  if (typeof reason !== "string") return `an action of the kind ${shown(kind)} has no \`reason\` in words`;
  switch (kind) {
    case "add":
      return Number.isSafeInteger(count) && (count as number) > 0
        ? null
        : `\`add\` has the count ${shown(count)}, and should have a whole number above 0`;
    case "remove":
      return hostProblem("`remove` names", host, now);
    case "move": {
      if (typeof context !== "string")
        return `\`move\` names ${shown(context)}, and should name the address of a context`;
      const problem = hostProblem(`\`move\` of ${context} names`, to, now);
      return problem ?? surveyor.cannotMove(context, to as number, now);
    }
    case "balance":
      return WEIGHTS.includes(by as string)
        ? null
        : `\`balance\` is by ${shown(by)}, and should be by "load" or "bytes"`;
    case "note":
      return null;
    default:
      return `there is no action of the kind ${shown(kind)}; there are ${KINDS.join(", ")}`;
  }
}

function hostProblem(what: string, host: unknown, now: Measurements): string | null {
  const known = running(now).map(({ id }) => id);
  if (known.includes(host as number)) return null;
  return `${what} host ${shown(host)}; running hosts are ${known.join(", ") || "none"}`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
