import type { Random } from "#src/random.js";

export const FAULT_KINDS = [
  "kill",
  "pause",
  "partition",
  "delay",
  "cut",
  "kill a host",
  "pause a host",
  "pause a server",
  "kill the log's leader",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** How many of a hundred faults are of each kind. Faults of servers stall the log for seconds. */
const SHARES: readonly (readonly [FaultKind, number])[] = [
  ["kill", 32],
  ["pause", 32],
  ["partition", 12],
  ["delay", 10],
  ["cut", 11],
  ["pause a server", 3],
];
const SHARES_WITH_HOSTS: readonly (readonly [FaultKind, number])[] = [
  ["kill a host", 40],
  ["pause a host", 15],
  ["kill", 25],
  ["pause", 20],
];

/** The fault after which a leader of the log is killed, which stalls the log for longest: once, and early. */
const LEADER_AFTER = 10;

export function faultKind(random: Random, faults: number, hasHosts: boolean): FaultKind {
  if (!hasHosts && faults === LEADER_AFTER) return "kill the log's leader";
  let left = random.int(100);
  for (const [kind, share] of hasHosts ? SHARES_WITH_HOSTS : SHARES) {
    left -= share;
    if (left < 0) return kind;
  }
  return "pause";
}
