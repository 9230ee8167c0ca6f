import type { LoadEvent } from "#src/elastic/load.js";

/** Loads for policies: so many hosts' worth of work at each second, spread over contexts. */
export interface Shape {
  readonly seconds: number;
  /** How many hosts would be just busy. */
  hostsAt(second: number): number;
  readonly costMs?: number;
  readonly contexts?: number;
  /** Which context the n-th event goes to; round robin by default. */
  contextOf?(event: number): number;
}

export function* loadOf({
  seconds,
  hostsAt,
  costMs = 2,
  contexts = 64,
  contextOf,
}: Shape): Iterable<LoadEvent> {
  let event = 0;
  for (let second = 0; second < seconds; second++) {
    const perSecond = Math.round((hostsAt(second) * 1000) / costMs);
    for (let i = 0; i < perSecond; i++) {
      const context = contextOf?.(event) ?? (event * 7) % contexts;
      event += 1;
      yield { atMs: second * 1000 + (i * 1000) / perSecond, context: ["Town", `houses(${context})`], costMs };
    }
  }
}
