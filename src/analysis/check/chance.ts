/** Seeded choices: the same seed gives the same run, everywhere. (The simulator has its own; it lies above.) */
export class Chance {
  #state: number;

  constructor(...seeds: readonly number[]) {
    this.#state = 0x2545f491;
    for (const seed of seeds) this.#state = mix((this.#state ^ seed) | 0);
  }

  /** From 0 up to, but not including, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return (mix(this.#state) >>> 0) / 2 ** 32;
  }

  int(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.int(items.length)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.fraction() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}

function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return bits ^ (bits >>> 15);
}
