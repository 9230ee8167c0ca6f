import type { SeenMember } from "./measured.js";
import { inState, isOwnId, type PlannedProcess, type ProcessPlan } from "./plan.js";

export interface StepSettings {
  /** A process that was asked for has to join within this time. */
  readonly joinMs: number;
  /** May a process be asked for again under its id, by another head? If not, it is waited for, or given up when its maker is gone. */
  readonly repeats: boolean;
}

export interface Situation extends StepSettings {
  readonly plan: ProcessPlan;
  readonly nowMs: number;
  readonly self: string;
  readonly members: readonly SeenMember[];
  /** Since when something has been so, as far as this head has seen: for signs that may pass. */
  readonly since: (what: string) => number;
  /** It is not so any more. */
  readonly passed: (what: string) => void;
}

/** What is to be done next about what was decided. `rest`: nothing is under way. */
export type PlanStep =
  | { readonly kind: "keep"; readonly plan: ProcessPlan; readonly problem?: string }
  | { readonly kind: "add" | "remove"; readonly process: PlannedProcess }
  | { readonly kind: "drain"; readonly process: PlannedProcess; readonly member: string }
  | { readonly kind: "retire"; readonly member: string; readonly why: string }
  | { readonly kind: "wait" }
  | { readonly kind: "rest" };

/** Beats of a process that was killed count for two seconds: two of one name are two only if that lasts. */
const STRAY_MS = 10_000;
const WAIT: PlanStep = { kind: "wait" };

export function nextStep(now: Situation): PlanStep {
  const { plan, nowMs, self } = now;
  // Another head may still be making or removing a process: never two at a time.
  if (plan.call !== null && plan.call.by !== self && nowMs < plan.call.untilMs) return WAIT;
  const stray = strayOf(now);
  if (stray !== null) return stray;
  let isUnderWay = false;
  for (const process of plan.processes) {
    const step = stepFor(process, now);
    if (step.kind !== "rest" && step.kind !== "wait") return step;
    isUnderWay ||= step.kind === "wait";
  }
  return isUnderWay ? WAIT : { kind: "rest" };
}

function stepFor(process: PlannedProcess, now: Situation): PlanStep {
  const { plan, nowMs, joinMs, since, passed } = now;
  const { id, name, state, sinceMs, againMs } = process;
  const living = livingAs(name, now);
  const isDue = nowMs >= againMs;
  switch (state) {
    case "asked":
    case "coming": {
      if (living.length > 0)
        return { kind: "keep", plan: { ...inState(plan, id, "here", nowMs), failures: 0 } };
      if (nowMs - sinceMs > joinMs) return givenUp(process, now);
      if (state === "coming") return WAIT;
      return askAgain(process, now, isDue);
    }
    case "here": {
      if (living.length > 0) {
        passed(`gone ${id}`);
        return { kind: "rest" };
      }
      // It may be started again by what watches over it. What is left of it is removed when that does not happen.
      if (nowMs - since(`gone ${id}`) <= joinMs) return { kind: "rest" };
      return { kind: "keep", plan: inState(plan, id, "going", nowMs) };
    }
    case "draining": {
      const [member] = living;
      if (member === undefined) return { kind: "keep", plan: inState(plan, id, "going", nowMs) };
      return isDue ? { kind: "drain", process, member: member.member } : WAIT;
    }
    case "going":
      if (living.length > 0 && !process.isDrained)
        // it has come after all
        return { kind: "keep", plan: inState(plan, id, "draining", nowMs) };
      if (isDue) return { kind: "remove", process };
      return living.length > 0 ? WAIT : { kind: "rest" };
  }
}

function askAgain(process: PlannedProcess, now: Situation, isDue: boolean): PlanStep {
  const { repeats, self, members } = now;
  const isOwn = process.by === self;
  if (repeats || isOwn) return isDue ? { kind: "add", process } : WAIT;
  // The process that was to make it may have done so, and ends it with itself.
  const isMakerHere = members.some(({ member }) => member === process.by);
  return isMakerHere ? WAIT : givenUp(process, now);
}

function givenUp({ id, name }: PlannedProcess, { plan, nowMs, joinMs }: Situation): PlanStep {
  return {
    kind: "keep",
    plan: { ...inState(plan, id, "going", nowMs), failures: plan.failures + 1 },
    problem: `${name} was asked for and has not joined within ${joinMs / 1000} seconds. What there is of it is removed`,
  };
}

function livingAs(name: string, { members }: Situation): readonly SeenMember[] {
  return members.filter((member) => member.name === name);
}

/** A process that was given up may come after all, and a process may be there twice: the first stays. */
function strayOf(now: Situation): PlanStep | null {
  const { plan, nowMs, members, since } = now;
  for (const { member, name } of members) {
    const isPlanned = plan.processes.some((each) => each.name === name);
    if (!isPlanned && !isOwnId(name)) continue;
    const isFirst = livingAs(name, now)[0]?.member === member;
    if (isPlanned && (isFirst || !isOwnId(name))) continue;
    if (nowMs - since(`stray ${member}`) > STRAY_MS)
      return { kind: "retire", member, why: isPlanned ? "is there twice" : "is not wanted any more" };
  }
  return null;
}
