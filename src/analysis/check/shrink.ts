/** Leaves out what is not needed for a finding, one thing at a time, until nothing can be left out. */
export function shrink<T, Finding>(
  items: readonly T[],
  found: Finding,
  find: (items: readonly T[]) => Finding | null,
): Finding {
  let left = items;
  let smallest = found;
  for (let i = 0; i < left.length; ) {
    const fewer = left.toSpliced(i, 1);
    const still = find(fewer);
    if (still === null) {
      i++;
      continue;
    }
    left = fewer;
    smallest = still;
    i = 0; // what was needed before may not be any more
  }
  return smallest;
}
