import type { Registers } from "../tables/index.js";
import type { Operator } from "./operator.js";

/**
 * The inputs of an operator that has several, as operators of their own: a round ends when it has ended on all of them, the
 * watermark is the least of theirs, and the input is complete with the last of them. `push` gets the number of the input. `told`
 * has the watermarks of the inputs (`Site.watermarks`); `isTimed` says whose count, all of them if it is left out.
 */
export function joint(
  count: number,
  next: Omit<Operator, "push"> & { push(batch: Parameters<Operator["push"]>[0], input: number): void },
  told: Registers,
  isTimed: (input: number) => boolean = () => true,
): Operator[] {
  const watermarks = told.values;
  const reached = () =>
    watermarks.reduce((least, each, i) => (isTimed(i) ? Math.min(least, each) : least), Infinity);
  let [least, unflushed, open] = [Number.NEGATIVE_INFINITY, count, count];
  return Array.from({ length: count }, (_, input) => ({
    push: (batch) => next.push(batch, input),
    flush: () => {
      unflushed--;
      if (unflushed > 0) return;
      unflushed = count;
      next.flush();
    },
    watermark: (timeMs) => {
      watermarks[input] = Math.max(watermarks[input] ?? timeMs, timeMs);
      const now = isTimed(input) ? reached() : least;
      if (now <= least) return;
      least = now;
      next.watermark(now);
    },
    end: () => {
      open--;
      if (open === 0) next.end();
    },
  }));
}
