import { type Decision, type Policy, running } from "../elastic/policy.js";
import { HeadwaterError } from "../errors.js";
import { measured, type SeenMember } from "./measured.js";
import { nextStep, type PlanStep, type StepSettings } from "./next-step.js";
import {
  inState,
  type KeptPlan,
  newId,
  type PlannedProcess,
  type PlanStore,
  type ProcessPlan,
  withProcess,
} from "./plan.js";

/** What a process is asked for with, and what there is. */
export interface ProcessOrder {
  readonly id: string;
  readonly name: string;
  /** The names of the members that live. */
  readonly members: readonly string[];
  /** How many processes there are to be when this is done. */
  readonly wanted: number;
}

/** Makes and removes processes. Both may be called again for the same id, and then do what is left to do. */
export interface ProcessMaker {
  readonly timeoutMs: number;
  /** See `StepSettings`. */
  readonly repeats: boolean;
  /** Resolves with the name of the member that comes, if that is not the id. */
  add(order: ProcessOrder, signal: AbortSignal): Promise<string | null>;
  remove(order: ProcessOrder, signal: AbortSignal): Promise<void>;
}

export interface ProvisionerParts extends StepSettings {
  readonly self: string;
  readonly store: PlanStore;
  readonly maker: ProcessMaker;
  /** A new one for each time that this member becomes the head: a policy may remember what it saw. */
  readonly policy: () => Policy;
  readonly max: number;
  readonly coolDownMs: number;
  /** In milliseconds, by the clock of the cluster's members. */
  readonly now: () => number;
  readonly isHead: () => boolean;
  readonly members: () => readonly SeenMember[];
  /** Nothing is placed on that member any more, and it does not become the head. */
  readonly drain: (member: string) => Promise<void>;
  /** The process of that member ends in good order. */
  readonly retire: (member: string) => Promise<void>;
  readonly decided: (decision: Decision) => void;
  readonly warn: (warning: HeadwaterError) => void;
}

const [BACK_OFF_MS_MIN, BACK_OFF_MS_MAX] = [1000, 300_000];
/** After its timeout, so much longer a call may take to be ended; and the clocks of members differ by as much. */
const END_MS = 4000;
/** A member that was held up for longer after it had said that it makes a process does not begin. */
const BEGIN_MS = 2000;
/** Signs that are remembered at most. */
const SIGNS_MAX = 1000;

/** Decides how many processes a cluster has while this member is the head, and does what was decided, by whichever head. */
export class Provisioner {
  readonly #parts: ProvisionerParts;
  #policy: Policy | null = null;
  #isBusy = false;
  #calling: AbortController | null = null;
  readonly #since = new Map<string, number>();

  constructor(parts: ProvisionerParts) {
    this.#parts = parts;
  }

  /** To be called about once a second. */
  async look(): Promise<void> {
    const { isHead, warn } = this.#parts;
    if (!isHead()) return this.#rest();
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      await this.#step();
    } catch (error) {
      // The servers could not be reached: what was to be kept may be kept, and the next look shows it.
      if (isHead()) warn(failed("the plan of the cluster's processes could not be read or kept", error));
    } finally {
      this.#isBusy = false;
    }
  }

  /** Another member is the head: it does what is under way. */
  #rest(): void {
    this.#calling?.abort();
    this.#policy = null;
    this.#since.clear();
  }

  stop(): void {
    this.#rest();
  }

  async #step(): Promise<void> {
    const { store, now, members, isHead, warn } = this.#parts;
    const kept = await store.read();
    if (!isHead()) return;
    const step = nextStep({
      ...this.#parts,
      plan: kept.plan,
      nowMs: now(),
      members: members(),
      since: (what) => this.#sinceOf(what),
      passed: (what) => this.#since.delete(what),
    });
    if (step.kind === "wait") return;
    if (step.kind === "rest") return this.#decide(kept);
    if (step.kind !== "keep") return this.#carryOut(step, kept);
    const isKept = await store.replace(step.plan, kept.version);
    if (isKept && step.problem !== undefined)
      warn(new HeadwaterError("HW-3151", `a process that was added has not joined: ${step.problem}.`));
  }

  #sinceOf(what: string): number {
    if (this.#since.size > SIGNS_MAX) this.#since.clear();
    const since = this.#since.get(what) ?? this.#parts.now();
    this.#since.set(what, since);
    return since;
  }

  async #decide({ plan, version }: KeptPlan): Promise<void> {
    const { store, now, members, max, coolDownMs, policy, decided, self } = this.#parts;
    const nowMs = now();
    const living = members();
    const wait = Math.min(BACK_OFF_MS_MAX, coolDownMs * 2 ** plan.failures);
    this.#policy ??= policy();
    const seen = measured(nowMs, living);
    const isUnknown = running(seen).length < living.length;
    const isSettled = nowMs - plan.actedMs >= wait;
    for (const action of this.#policy(seen)) {
      if (action.kind === "note") decided({ action, text: `nothing is done: ${action.reason}`, error: null });
      if (isUnknown || !isSettled) continue;
      const next = planFor(action.kind, action.kind === "add" ? action.count : 1, plan, living, {
        max,
        nowMs,
        self,
      });
      if (next === null) continue;
      if (await store.replace(next, version))
        decided({ action, text: `${whatIsDone(next, plan)}: ${action.reason}`, error: null });
      return;
    }
  }

  async #carryOut(
    step: Exclude<PlanStep, { kind: "keep" | "wait" | "rest" }>,
    kept: KeptPlan,
  ): Promise<void> {
    const { warn, retire } = this.#parts;
    if (step.kind === "retire") {
      await retire(step.member).catch((error: unknown) =>
        warn(failed(`${step.member} ${step.why}, and does not end`, error)),
      );
      return;
    }
    if (step.kind === "drain") return this.#drain(step.process, step.member);
    return this.#call(step.kind, step.process, kept);
  }

  async #drain(process: PlannedProcess, member: string): Promise<void> {
    const { drain, isHead, now, store } = this.#parts;
    const { id, name } = process;
    let change = (plan: ProcessPlan) => inState(plan, id, "going", now(), { isDrained: true });
    try {
      await drain(member);
    } catch (error) {
      change = this.#failure(process, `${name} could not be drained`, error);
    }
    if (!isHead()) return; // a head that is drained is the head no more: the next one finds it drained
    const { plan, version } = await store.read();
    const isWanted = plan.processes.some((each) => each.id === id && each.state === "draining");
    if (isWanted) await store.replace(change(plan), version);
  }

  /** Makes or removes a process. The plan says so before, so that no other head does the same at the same time. */
  async #call(kind: "add" | "remove", process: PlannedProcess, kept: KeptPlan): Promise<void> {
    const { store, maker, self, now, isHead } = this.#parts;
    const begunMs = now();
    const call = { by: self, untilMs: begunMs + maker.timeoutMs + END_MS };
    const isKept = await store.replace({ ...kept.plan, call }, kept.version);
    if (!isKept || !isHead() || now() - begunMs > BEGIN_MS) return;
    const change = await this.#made(kind, process, kept.plan);
    if (change === null) return;
    const { plan, version } = await store.read();
    // Unless another head has gone on meanwhile.
    if (plan.call?.by === self && plan.call.untilMs === call.untilMs)
      await store.replace({ ...change(plan), call: null }, version);
  }

  async #made(
    kind: "add" | "remove",
    process: PlannedProcess,
    plan: ProcessPlan,
  ): Promise<((plan: ProcessPlan) => ProcessPlan) | null> {
    const { maker, members, now } = this.#parts;
    const { id, name } = process;
    const living = members().map((member) => member.name);
    const order = { id, name, members: living, wanted: wantedIn(plan, living) };
    this.#calling = new AbortController();
    const { signal } = this.#calling;
    try {
      if (kind === "add") {
        const named = await maker.add(order, signal);
        return (plan) => inState(plan, id, "coming", now(), { name: named ?? id });
      }
      await maker.remove(order, signal);
      const isGone = !members().some((member) => member.name === name);
      return isGone
        ? (plan) => withProcess(plan, id, null)
        : (plan) => withProcess(plan, id, this.#later(process));
    } catch (error) {
      if (signal.aborted) return null;
      return this.#failure(process, `${name} could not be ${kind === "add" ? "added" : "removed"}`, error);
    } finally {
      this.#calling = null;
    }
  }

  #failure(process: PlannedProcess, what: string, error: unknown): (plan: ProcessPlan) => ProcessPlan {
    const later = this.#later(process);
    const again = `It is tried again in ${Math.round((later.againMs - this.#parts.now()) / 1000)} seconds`;
    this.#parts.warn(failed(what, error, again));
    return (plan) => withProcess(plan, process.id, later);
  }

  #later({ failures }: PlannedProcess): Pick<PlannedProcess, "failures" | "againMs"> {
    const ms = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS_MIN * 2 ** failures);
    return { failures: failures + 1, againMs: this.#parts.now() + ms };
  }
}

interface Deciding {
  readonly max: number;
  readonly nowMs: number;
  readonly self: string;
}

/** The plan with what a policy wants; null if that cannot be done. */
function planFor(
  kind: string,
  count: number,
  plan: ProcessPlan,
  living: readonly SeenMember[],
  { max, nowMs, self }: Deciding,
): ProcessPlan | null {
  if (kind === "add") {
    // What is being removed, or may still be there, counts.
    const absent = plan.processes.filter(({ name }) => !living.some((member) => member.name === name));
    const allowed = Math.min(count, max - living.length - absent.length);
    if (allowed <= 0) return null;
    const added = Array.from({ length: allowed }, (): PlannedProcess => {
      const id = newId();
      return {
        id,
        name: id,
        state: "asked",
        isDrained: false,
        by: self,
        sinceMs: nowMs,
        failures: 0,
        againMs: nowMs,
      };
    });
    return { ...plan, processes: [...plan.processes, ...added], actedMs: nowMs };
  }
  const last = kind === "remove" ? plan.processes.findLast(({ state }) => state === "here") : undefined;
  if (last === undefined) return null;
  return { ...inState(plan, last.id, "draining", nowMs), actedMs: nowMs };
}

function whatIsDone(next: ProcessPlan, before: ProcessPlan): string {
  const added = next.processes.length - before.processes.length;
  if (added > 0) return added === 1 ? "a process is added" : `${added} processes are added`;
  return `the process ${next.processes.findLast(({ state }) => state === "draining")?.name ?? ""} is removed`;
}

/** How many processes are to be there: living ones and those to come, without the ones to go. */
function wantedIn({ processes }: ProcessPlan, living: readonly string[]): number {
  const isGoing = (name: string) => processes.some((each) => each.name === name && each.state === "going");
  const stay = living.filter((name) => !isGoing(name)).length;
  const come = processes.filter(
    ({ name, state }) => (state === "asked" || state === "coming") && !living.includes(name),
  ).length;
  return stay + come;
}

function failed(what: string, error: unknown, then = ""): HeadwaterError {
  const why = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
  return new HeadwaterError("HW-3150", `${what}: ${why}.${then === "" ? "" : ` ${then}.`}`, { cause: error });
}
