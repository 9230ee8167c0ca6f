import type { Random } from "../../random.js";
import type { OpKind } from "./program.js";

/** What is drawn: an operation, or several that go together. */
export type DrawnKind = OpKind | "family";

/**
 * What kind of programs a seed makes. Programs in which everything happens a little seldom do one thing a lot, so
 * each seed switches groups of features off, leaves them, or makes them heavy ("swarm testing"): some seeds are all
 * downgrades, some are readers under one hot context, some are timers.
 */
export interface ProgramProfile {
  /** Draws the kind of the next operation. */
  readonly kind: (random: Random) => DrawnKind;
  readonly nodes: number;
  readonly classesPerNode: number;
  readonly levels: number;
  readonly keys: number;
  readonly opsMax: number;
  /** How many methods only look at their context, or change it, and return. */
  readonly light: number;
  readonly anonymous: number;
  readonly readonly: number;
  /** How many methods begin by giving their context up. */
  readonly downgradeFirst: number;
  /** How many of those fail in the end, when others may have been in. */
  readonly failLate: number;
  /** How often operations come that are sure to break a rule where they stand. */
  readonly violations: number;
  readonly timers: boolean;
  readonly reads: boolean;
  /** Are children listed and contexts deleted? */
  readonly whole: boolean;
}

type Group = readonly (readonly [kind: DrawnKind, weight: number])[];

const GROUPS: Readonly<Record<string, Group>> = {
  state: [
    ["change", 6],
    ["get", 4],
  ],
  calls: [["call", 10]],
  families: [["family", 2]],
  parallel: [
    ["par", 1.5],
    ["branches", 2],
    ["during", 2.5],
    ["breathe", 1],
  ],
  own: [["own", 1]],
  branches: [["if", 2]],
  failures: [
    ["throw", 0.8],
    ["try", 1.5],
  ],
  downgrades: [["downgrade", 2]],
  starts: [["start", 1.5]],
  sends: [
    ["send", 1.2],
    ["tell", 1],
  ],
  timers: [
    ["timer", 1],
    ["cancel", 0.8],
  ],
  reads: [["read", 2]],
  outside: [["outside", 0.8]],
  knowing: [["know", 1]],
  whole: [
    ["list", 2.5],
    ["delete", 3],
  ],
  pauses: [["pause", 1.5]],
};

const VIOLATIONS: Group = [
  ["forget", 0.15],
  ["stray", 0.15],
  ["pass", 0.1],
  ["store", 0.1],
  ["break", 0.5],
];

export function drawProfile(random: Random): ProgramProfile {
  const factors: Record<string, number> = {};
  for (const group of Object.keys(GROUPS)) factors[group] = random.pick([0, 0.3, 1, 1, 3]);
  // A program that neither keeps state nor calls anybody shows nothing.
  if (factors.state === 0) factors.state = 1;
  if (factors.calls === 0 && random.chance(0.6)) factors.calls = 1;
  const violations = random.pick([0, 0, 0, 1, 4]);
  const downgrades = factors.downgrades ?? 0;
  /** Programs in which methods call a lot, several contexts at once and all around. */
  const calling = random.chance(0.2);
  if (calling) for (const group of ["families", "reads", "downgrades"]) factors[group] = 4;
  // What is deleted shows only if there is something below it.
  const isDeep = factors.whole === 3;
  if (isDeep && factors.calls === 0) factors.calls = 1;
  if (isDeep) for (const group of ["parallel", "timers"]) factors[group] = Math.max(factors[group] ?? 0, 1);
  return {
    kind: drawFrom([
      ...Object.entries(GROUPS).flatMap(([name, group]) => scaled(group, factors[name] ?? 0)),
      ...scaled(VIOLATIONS, violations),
    ]),
    nodes: factors.sends === 0 ? 1 : random.pick([1, 2, 2, 3]),
    classesPerNode: random.pick(calling ? [3, 4] : isDeep ? [3, 4, 5] : [1, 3, 3, 4, 5]),
    levels: random.pick(calling || isDeep ? [3, 4] : [1, 2, 3, 3, 4, 4]),
    keys: random.pick(calling || isDeep ? [1, 1, 2] : [1, 2, 3, 4]),
    opsMax: random.pick([2, 3, 5]),
    light: random.pick(calling ? [0, 0.3] : isDeep ? [0.3, 0.6] : [0.2, 0.6, 0.9, 0.9, 0.95, 0.95]),
    anonymous: random.pick([0, 0, 0.15]),
    readonly: random.pick([0, 0.2, 0.4, 0.7]),
    downgradeFirst: downgrades === 0 ? 0 : random.pick([0, 0.3, 0.6]) * Math.min(downgrades, 1.5),
    failLate: random.pick([0, 0.3, 0.8]),
    violations: violations === 0 ? 0 : 0.08 * violations,
    timers: factors.timers !== 0,
    reads: factors.reads !== 0,
    whole: factors.whole !== 0,
  };
}

function scaled(group: Group, factor: number): Group {
  return factor === 0 ? [] : group.map(([kind, weight]) => [kind, weight * factor]);
}

function drawFrom(weighted: Group): (random: Random) => DrawnKind {
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
  return (random) => {
    let left = (random.int(2 ** 24) / 2 ** 24) * total;
    for (const [kind, weight] of weighted) {
      left -= weight;
      if (left < 0) return kind;
    }
    return "get";
  };
}
