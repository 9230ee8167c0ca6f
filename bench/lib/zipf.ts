/** Keys from 0 up, drawn so that the key of rank r comes with a probability proportional to 1 / r^skew. */
export class Zipf {
  /** How likely a key is this one or one before it. */
  readonly #upTo: Float64Array;
  #state: number;

  constructor(
    readonly keys: number,
    skew: number,
    seed = 1,
  ) {
    this.#upTo = new Float64Array(keys);
    let sum = 0;
    for (let key = 0; key < keys; key++) this.#upTo[key] = sum += 1 / (key + 1) ** skew;
    for (let key = 0; key < keys; key++) this.#upTo[key] = (this.#upTo[key] as number) / sum;
    this.#state = seed;
  }

  next(): number {
    const share = this.#random();
    let [low, high] = [0, this.keys - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#upTo[middle] as number) < share) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Marsaglia's xorshift: the same keys in every run. */
  #random(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }
}

export interface Transfer {
  readonly from: number;
  readonly to: number;
}

/** Between two different accounts, both of them drawn by `zipf`. */
export function nextTransfer(zipf: Zipf): Transfer {
  const from = zipf.next();
  const to = zipf.next();
  return { from, to: to === from ? (to + 1) % zipf.keys : to };
}
