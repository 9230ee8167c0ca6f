/** Equal records that come together, or nearly. */
export interface Repeated {
  readonly times: number;
}

/** Leaves out everything that a finding does not need, until nothing can be left out; then as few of each as suffice. */
export function shrink<T extends Repeated, Finding>(
  items: readonly T[],
  found: Finding,
  find: (items: readonly T[]) => Finding | null,
): Finding {
  let left = items;
  let smallest = found;
  const attempt = (fewer: readonly T[]): boolean => {
    const still = find(fewer);
    if (still === null) return false;
    left = fewer;
    smallest = still;
    return true;
  };
  // After a success it starts again: what was needed before may not be any more.
  for (let i = 0; i < left.length; ) i = attempt(left.toSpliced(i, 1)) ? 0 : i + 1;
  for (let i = 0; i < left.length; i++) {
    let tooFew = 0;
    for (let item = left[i]; item !== undefined && item.times - tooFew > 1; item = left[i]) {
      const middle = Math.floor((tooFew + item.times) / 2);
      if (!attempt(left.with(i, { ...item, times: middle }))) tooFew = middle;
    }
  }
  return smallest;
}
