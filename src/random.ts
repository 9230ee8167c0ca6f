/** A seeded source of choices: the same seed gives the same choices, everywhere and always. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Far seeds (above 32 bits) count too, and near ones start far apart.
    this.#state = scramble((seed | 0) ^ Math.imul(Math.floor(seed / 2 ** 32) | 0, 0x85ebca6b));
  }

  /** 32 random bits: a counter with a step that reaches all values, and a scrambler that hides the counting. */
  bits(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return scramble(this.#state);
  }

  /** A whole number from 0 to `below` - 1. */
  int(below: number): number {
    return Math.floor(((this.bits() >>> 0) / 2 ** 32) * below);
  }

  chance(probability: number): boolean {
    return (this.bits() >>> 0) / 2 ** 32 < probability;
  }

  pick<T>(array: readonly T[]): T {
    if (array.length === 0) throw new RangeError("there is nothing to pick from");
    return array[this.int(array.length)] as T;
  }

  /** A source of its own, so that what one part draws does not move what another one gets. */
  fork(): Random {
    return new Random(this.bits());
  }
}

function scramble(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return bits ^ (bits >>> 15);
}

/** A running fingerprint of everything that happened in a run; cheap, and not meant to stand up to an attacker. */
export class TraceHash {
  #left = 0x3c6ef372;
  #right = 0x1f83d9ab;

  add(item: string | number): this {
    if (typeof item === "string") {
      for (let i = 0; i < item.length; i++) this.#fold(item.charCodeAt(i));
      this.#fold(0x10000 + item.length);
    } else if ((item | 0) === item) this.#fold(item);
    else this.add(String(item));
    return this;
  }

  #fold(value: number): void {
    this.#left = Math.imul(this.#left ^ value, 0x01000193);
    const turned = (this.#right << 13) | (this.#right >>> 19);
    this.#right = (Math.imul(turned ^ value, 0x5bd1e995) + this.#left) | 0;
  }

  /** 16 hexadecimal digits. */
  digest(): string {
    const left = scramble(this.#left ^ this.#right) >>> 0;
    return left.toString(16).padStart(8, "0") + (scramble(this.#right) >>> 0).toString(16).padStart(8, "0");
  }
}
