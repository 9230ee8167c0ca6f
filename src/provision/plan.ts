import { randomBytes } from "node:crypto";
import type { LogPort } from "../journal/stream/log-port.js";

/** A process that was added by a decision, or is being added. */
export interface PlannedProcess {
  /** Names it when it is asked for, again and again: one process is made for each id. */
  readonly id: string;
  /** The name of the member that it becomes. */
  readonly name: string;
  /**
   * `asked`: it is being made. `coming`: it was made, and has to join. `here`: it has joined. `draining`: it has to be drained.
   * `going`: it has to be removed; nothing is lost by that.
   */
  readonly state: "asked" | "coming" | "here" | "draining" | "going";
  /** Nothing is placed there any more. */
  readonly isDrained: boolean;
  /** The member that asked for it. */
  readonly by: string;
  /** When this state began, by the clock of the members. */
  readonly sinceMs: number;
  /** How often in a row what is to be done for it has failed, and when it is tried again. */
  readonly failures: number;
  readonly againMs: number;
}

/** What was decided about the processes of a cluster. */
export interface ProcessPlan {
  /** In the order in which they were added: the last is removed first. */
  readonly processes: readonly PlannedProcess[];
  /** When the last decision was made. */
  readonly actedMs: number;
  /** Additions in a row that came to nothing. */
  readonly failures: number;
  /** A process is being made or removed by this member now, until then at the latest. */
  readonly call: { readonly by: string; readonly untilMs: number } | null;
}

export interface KeptPlan {
  readonly plan: ProcessPlan;
  readonly version: number;
}

/** Where a plan is kept. */
export interface PlanStore {
  read(): Promise<KeptPlan>;
  /** Keeps it instead of the plan of that version; false if there is a later one. */
  replace(plan: ProcessPlan, version: number): Promise<boolean>;
}

export const EMPTY_PLAN: ProcessPlan = { processes: [], actedMs: 0, failures: 0, call: null };

const PART = "processes";
const OWN_ID = /^auto-[0-9a-f]{8}$/;

/** The plan of the cluster that has this log. */
export function planKeptIn(port: LogPort): PlanStore {
  return {
    read: async () => {
      const kept = await port.getPart(PART);
      if (kept === null) return { plan: EMPTY_PLAN, version: 0 };
      return { plan: JSON.parse(kept.bytes.toString()) as ProcessPlan, version: kept.version };
    },
    replace: (plan, version) => port.replacePart(PART, Buffer.from(JSON.stringify(plan)), version),
  };
}

export function newId(): string {
  return `auto-${randomBytes(4).toString("hex")}`;
}

/** Is it the name of a process that a plan has named? */
export function isOwnId(name: string): boolean {
  return OWN_ID.test(name);
}

/** The plan with one of its processes changed, or without it. */
export function withProcess(
  plan: ProcessPlan,
  id: string,
  change: Partial<PlannedProcess> | null,
): ProcessPlan {
  const processes = plan.processes.flatMap((each) => {
    if (each.id !== id) return [each];
    return change === null ? [] : [{ ...each, ...change }];
  });
  return { ...plan, processes };
}

/** The next state of a process: what failed before counts no more. */
export function inState(
  plan: ProcessPlan,
  id: string,
  state: PlannedProcess["state"],
  nowMs: number,
  change: Partial<PlannedProcess> = {},
): ProcessPlan {
  return withProcess(plan, id, { ...change, state, sinceMs: nowMs, failures: 0, againMs: nowMs });
}
