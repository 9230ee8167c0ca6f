import type { HostMeasurements, Measurements } from "../elastic/policy.js";

/** A host of a member, as the head knows it. */
export interface HostFigures {
  readonly utilisation: number;
  readonly queueMs: number;
  readonly p99Ms: number;
  readonly eventsPerSecond: number;
}

/** A living member, as the head sees it. */
export interface SeenMember {
  /** No other process has it. */
  readonly member: string;
  /** As it was started; a process that is started again has it again. */
  readonly name: string;
  /** Null while it has not said how busy it is. */
  readonly load: { readonly loop: number; readonly memoryBytes: number } | null;
  readonly hosts: readonly HostFigures[];
}

/**
 * Processes as a policy of hosts sees them. A process is as busy as its event loop or its hosts are, whichever is more; contexts are spread
 * over hosts by another policy, so there are none here.
 */
export function measured(timeMs: number, members: readonly SeenMember[]): Measurements {
  return { timeMs, hosts: members.map((member, id) => measuredProcess(member, id)) };
}

function measuredProcess({ load, hosts }: SeenMember, id: number): HostMeasurements {
  const mean = (of: (host: HostFigures) => number) =>
    hosts.reduce((sum, host) => sum + of(host), 0) / Math.max(1, hosts.length);
  return {
    id,
    state: load === null ? "starting" : "running",
    utilisation: Math.max(
      load?.loop ?? 0,
      mean(({ utilisation }) => utilisation),
    ),
    heapBytes: load?.memoryBytes ?? 0,
    stateBytes: 0,
    queueMs: mean(({ queueMs }) => queueMs),
    p99Ms: Math.max(0, ...hosts.map(({ p99Ms }) => p99Ms)),
    eventsPerSecond: hosts.reduce((sum, host) => sum + host.eventsPerSecond, 0),
    contexts: [],
  };
}
