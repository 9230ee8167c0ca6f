import type { HostLink } from "./host-link.js";

/** The operating system has refused what a host needs (descriptors, processes, memory): another try may succeed. */
export class NotSpawned extends Error {
  static because(cause: unknown): NotSpawned {
    return new NotSpawned(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The link to a host that does not exist. */
export function deadLink(kind: HostLink["kind"]): HostLink {
  return {
    kind,
    post: () => {},
    tell: () => {},
    running: (answer) => answer(null),
    kill: () => {},
    close: async () => {},
  };
}

const [FIRST_DELAY_MS, DELAY_MS_MAX] = [100, 10_000];

/** How long to wait before the next try, after so many that failed. */
export function spawnDelayMs(failures: number): number {
  return Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (failures - 1));
}
