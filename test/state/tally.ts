import { createHash } from "node:crypto";
import type { OwnedEngine } from "headwater";

/** What a tally has come to. */
export interface Tallied {
  readonly sums: Record<string, number>;
  /** Depends on every record and on their order. */
  readonly chain: string;
}

/**
 * An engine that keeps a sum for each key and a hash chain of all records. Its checkpoints hold only the sums that have
 * changed since the last one, so that one that is lost or counted twice shows.
 */
export class Tally implements OwnedEngine<number> {
  /** How many were made, and how many records all of them have applied. */
  static made = 0;
  static applied = 0;

  readonly #sums = new Map<string, number>();
  readonly #changed = new Set<string>();
  #chain = "";

  constructor() {
    Tally.made += 1;
  }

  static record(key: string, add: number): Uint8Array {
    return Buffer.from(JSON.stringify([key, add]));
  }

  static of(records: readonly Uint8Array[]): Tallied {
    const [made, applied] = [Tally.made, Tally.applied];
    const tally = new Tally();
    for (const record of records) tally.apply(record);
    [Tally.made, Tally.applied] = [made, applied];
    return tally.tallied;
  }

  apply(record: Uint8Array): number {
    Tally.applied += 1;
    this.#chain = createHash("sha256").update(this.#chain).update(record).digest("hex");
    const [key, add] = JSON.parse(Buffer.from(record).toString()) as [string, number];
    if (key === "throw") throw new Error("this tally throws");
    const sum = (this.#sums.get(key) ?? 0) + add;
    if (sum === 0) this.#sums.delete(key);
    else this.#sums.set(key, sum);
    this.#changed.add(key);
    return sum;
  }

  *checkpoint(): Iterable<readonly [string, Uint8Array | null]> {
    yield ["chain", Buffer.from(this.#chain)];
    for (const key of this.#changed) {
      const sum = this.#sums.get(key);
      yield [`sum ${key}`, sum === undefined ? null : Buffer.from(String(sum))];
    }
    this.#changed.clear();
  }

  load(parts: Iterable<readonly [string, Uint8Array]>): void {
    for (const [name, bytes] of parts) {
      const text = Buffer.from(bytes).toString();
      if (name === "chain") this.#chain = text;
      else this.#sums.set(name.slice("sum ".length), Number(text));
    }
  }

  get memoryBytes(): number {
    return this.#sums.size * 100;
  }

  get tallied(): Tallied {
    const sums = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
    return { sums: Object.fromEntries(sums), chain: this.#chain };
  }
}
