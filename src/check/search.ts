import type { Block, Chance, CheckedComponent } from "./component.js";
import { merged, outcome, repeated, shuffled } from "./deliveries.js";

/** The same records, delivered in two ways, with two outcomes. */
export interface Difference {
  readonly deliveries: readonly [readonly Block[], readonly Block[]];
  readonly outcomes: readonly [readonly string[], readonly string[]];
}

export interface Trial {
  readonly component: CheckedComponent;
  /** What the component gets of a delivery, under its coordination. */
  readonly coordinate: (delivery: readonly Block[]) => readonly Block[];
  /** The inputs over which a repeated record must not show. */
  readonly mayRepeat: ReadonlySet<string>;
}

const WORKLOADS = 40;
const DELIVERIES = 12;
const KINDS_PERMUTED_MAX = 4;

/** Looks for two deliveries of one input that do not have the same outcome; the smallest it can find. */
export function findDifference(trial: Trial, chance: Chance): Difference | null {
  for (let i = 0; i < WORKLOADS; i++) {
    const blocks = merged(trial.component.records(chance));
    const first = compareAll(trial, blocks, chance);
    if (first !== null) return smallest(trial, blocks, first, chance);
  }
  return null;
}

function compareAll(trial: Trial, blocks: readonly Block[], chance: Chance): Difference | null {
  const straight = blocks;
  const expected = outcome(trial.component, trial.coordinate(straight));
  for (let i = 0; i < DELIVERIES; i++) {
    const delivery = repeated(shuffled(blocks, chance), trial.mayRepeat, chance);
    const found = differing(trial, straight, expected, delivery);
    if (found !== null) return found;
  }
  return null;
}

function differing(
  { component, coordinate }: Trial,
  straight: readonly Block[],
  expected: readonly string[],
  delivery: readonly Block[],
): Difference | null {
  const got = outcome(component, coordinate(delivery));
  if (got.join("\n") === expected.join("\n")) return null;
  return { deliveries: [straight, delivery], outcomes: [expected, got] };
}

/** Fewer kinds of records, then fewer of each, as long as some order still makes a difference. */
function smallest(trial: Trial, blocks: readonly Block[], found: Difference, chance: Chance): Difference {
  let best = found;
  let left = [...blocks];
  const attempt = (smaller: Block[]): boolean => {
    const difference =
      smaller.length > KINDS_PERMUTED_MAX
        ? compareAll(trial, smaller, chance)
        : byPermutation(trial, smaller);
    if (difference === null) return false;
    [best, left] = [difference, smaller];
    return true;
  };
  attempt(left);
  for (let i = 0; i < left.length; ) if (!attempt(left.filter((_, j) => j !== i))) i += 1;
  for (let i = 0; i < left.length; i++) {
    let [tooFew, enough] = [0, left[i]?.times ?? 0];
    while (enough - tooFew > 1) {
      const middle = Math.floor((tooFew + enough) / 2);
      if (attempt(left.map((block, j) => (j === i ? { ...block, times: middle } : block)))) enough = middle;
      else tooFew = middle;
    }
  }
  return best;
}

/** All orders of whole blocks; then with one record more, where that must not show; then with one block in two pieces. */
function byPermutation(trial: Trial, blocks: readonly Block[]): Difference | null {
  const expected = outcome(trial.component, trial.coordinate(blocks));
  const more = blocks
    .filter(({ input }) => trial.mayRepeat.has(input))
    .map((block) => [...blocks, { ...block, times: 1 }]);
  const split = blocks.flatMap((block, i) =>
    block.times < 2
      ? []
      : [blocks.toSpliced(i, 1, { ...block, times: 1 }, { ...block, times: block.times - 1 })],
  );
  for (const pieces of [blocks, ...more, ...split]) {
    for (const delivery of permutations(pieces)) {
      const found = differing(trial, blocks, expected, delivery);
      if (found !== null) return found;
    }
  }
  return null;
}

function* permutations<T>(items: readonly T[]): Generator<T[]> {
  if (items.length < 2) yield [...items];
  for (const [i, item] of items.entries()) {
    if (items.length < 2) return;
    for (const rest of permutations(items.filter((_, j) => j !== i))) yield [item, ...rest];
  }
}
