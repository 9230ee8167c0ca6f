import { type HostMeasurements, type Measurements, running, type Weight } from "./policy.js";

export interface BalancingMove {
  readonly context: string;
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

export interface Balanced {
  readonly moves: readonly BalancingMove[];
  /** Contexts that are more than their share of all hosts, on a host that stays the fullest. */
  readonly tooHot: readonly { readonly context: string; readonly host: number; readonly weight: number }[];
}

/** Migrations in one go, so that a mistaken measurement does limited harm. */
const MOVES_MAX = 8;
/** A migration must narrow the gap between two hosts by at least this part of it. */
const GAIN_MIN = 0.1;
/** A gap smaller than this part of what the average host has is left alone. */
const GAP_MIN = 0.1;

interface Filling {
  readonly id: number;
  weight: number;
  readonly contexts: Map<string, number>;
}

/**
 * Which contexts to migrate so that the hosts become equally full: again and again the context that best closes the gap between
 * the fullest and the emptiest host. A context that weighs as much as the gap would only change their places, and stays.
 */
export function balanced(now: Measurements, by: Weight, movesMax = MOVES_MAX): Balanced {
  const hosts = running(now).map((host) => fillingOf(host, by));
  const mean = hosts.reduce((sum, { weight }) => sum + weight, 0) / hosts.length;
  const moves: BalancingMove[] = [];
  while (hosts.length > 1 && moves.length < movesMax) {
    const [full, empty] = [extreme(hosts, 1), extreme(hosts, -1)];
    const gap = full.weight - empty.weight;
    if (gap <= mean * GAP_MIN) return { moves, tooHot: [] };
    const best = bestMove(full, gap);
    if (best === null) return { moves, tooHot: tooHot(full, mean) };
    const [context, weight] = best;
    full.contexts.delete(context);
    empty.contexts.set(context, weight);
    full.weight -= weight;
    empty.weight += weight;
    moves.push({ context, from: full.id, to: empty.id, weight });
  }
  return { moves, tooHot: [] };
}

function fillingOf({ id, contexts }: HostMeasurements, by: Weight): Filling {
  const free = contexts.filter(({ bound }) => !bound);
  return {
    id,
    contexts: new Map(free.map((each) => [each.context, each[by]] as const)),
    weight: contexts.reduce((sum, each) => sum + each[by], 0),
  };
}

function extreme(hosts: readonly Filling[], sign: 1 | -1): Filling {
  return hosts.reduce((best, host) => (sign * host.weight > sign * best.weight ? host : best));
}

/** The context that leaves the smallest gap. */
function bestMove({ contexts }: Filling, gap: number): readonly [string, number] | null {
  let best: readonly [string, number] | null = null;
  let leaves = gap * (1 - GAIN_MIN);
  for (const [context, weight] of contexts) {
    const left = Math.abs(gap - 2 * weight);
    if (left < leaves) [best, leaves] = [[context, weight], left];
  }
  return best;
}

function tooHot({ id, contexts }: Filling, mean: number): Balanced["tooHot"] {
  return [...contexts]
    .filter(([, weight]) => weight > mean)
    .map(([context, weight]) => ({ context, host: id, weight }));
}
