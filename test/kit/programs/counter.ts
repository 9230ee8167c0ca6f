/** Planted, for the programs that import it: each host has a counter of its own, and a crash sets it back. */
let last = 0;

export function nextNumber(): number {
  last += 1;
  return last;
}
