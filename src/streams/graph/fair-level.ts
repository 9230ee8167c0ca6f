/**
 * What each may have at most, so that all together have `total`: the same for all, and what some want less of goes to the others
 * (max-min fairness). Infinite if there is enough.
 */
export function fairLevel(wanted: readonly number[], total: number): number {
  const ascending = [...wanted].sort((a, b) => a - b);
  let left = total;
  for (const [i, each] of ascending.entries()) {
    const equal = left / (ascending.length - i);
    if (each > equal) return equal;
    left -= each;
  }
  return Number.POSITIVE_INFINITY;
}
