import { Random } from "../random.js";

/** Choices of the simulator's kind, from several numbers. */
export class Chance extends Random {
  constructor(seed: number, run = 0) {
    super(seed * 4096 + run);
  }

  /** From 0 up to, but not including, 1. */
  fraction(): number {
    return this.int(2 ** 30) / 2 ** 30;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.fraction() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}
