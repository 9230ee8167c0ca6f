import { readdirSync, readFileSync } from "node:fs";

/**
 * How many connections a process can have before it lacks descriptors for what it needs itself: hosts that must be
 * replaced, the journal, files. Each connection takes one; without any left, no process can be started.
 */

/** Kept free, unless the process may have so few that a quarter of them must do. */
const RESERVED = 256;

/** As many connections as fit beside what is open now and what is kept free. */
export function connectionsThatFit(): number {
  const limit = descriptorsMax();
  const kept = Math.min(RESERVED, Math.ceil(limit / 4));
  return Math.max(1, limit - descriptorsOpen() - kept);
}

/** The limit of this process; none is known where there is no /proc. */
function descriptorsMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function descriptorsOpen(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}
