import { HeadwaterError } from "../errors.js";
import { Context } from "../model/context.js";
import type { Key } from "../model/key.js";
import { tracked } from "../model/tracked.js";

/** What is known of one producer's part of a partition. */
interface Share {
  /** How many different records have come. */
  arrived: number;
  /** How many there are, once the producer has said so. */
  promised: number | null;
}

/**
 * Sealing (Blazes, section V.B.1): one partition of a stream, held until every producer has sealed it and all that they
 * promised has come. Records carry a producer and a number, counted by the producer from 0 in this partition; so order
 * and repetition of deliveries do not matter, and what is processed is always the same list in the same order.
 *
 * The vote is over when the producers are known and all have sealed; with one producer there is none. An application
 * extends this class, and makes it children of the receiver of the stream, with the partition as their key.
 */
export abstract class SealedPartition<T, K extends Key = string> extends Context<K> {
  held = tracked.map<string, T>();
  shares = new Map<string, Share>();
  known: readonly string[] | null = this.producers();
  done = false;

  /** What to do with the whole partition, once. It is part of the event that completed it. */
  protected abstract process(records: readonly T[]): void | Promise<void>;

  /** Who contributes to every partition, if that is always the same; else `expect` must be called for each. */
  protected producers(): readonly string[] | null {
    return null;
  }

  /** Says who contributes to this partition. It may be said again, in any order, but not otherwise. */
  async expect(producers: readonly string[]): Promise<void> {
    const names = new Set(producers);
    if (this.known !== null) {
      const same = this.known.every((name) => names.has(name)) && new Set(this.known).size === names.size;
      if (same) return;
      throw new HeadwaterError(
        "HW-5009",
        `Partition ${String(this.key)} is told to expect ${listed(names)}, but it was told before that its producers are ` +
          `${listed(this.known)}. Decide once who contributes to a partition, and say the same everywhere.`,
      );
    }
    this.known = [...names];
    for (const name of this.shares.keys()) this.#share(name);
    await this.#processIfComplete();
  }

  /** One record. One that has come already is dropped. */
  async take(producer: string, number: number, record: T): Promise<void> {
    const share = this.#share(producer);
    if (share.promised !== null && number >= share.promised) {
      throw this.#broken(`record ${number} of ${producer} came, but it had sealed ${share.promised}`);
    }
    const name = recordName(producer, number);
    if (this.done || this.held.has(name)) return;
    this.held.set(name, record);
    share.arrived += 1;
    await this.#processIfComplete();
  }

  /** A producer's promise that it has numbered `count` records in this partition and will number no more. */
  async seal(producer: string, count: number): Promise<void> {
    const share = this.#share(producer);
    if (share.promised === count) return;
    if (share.promised !== null) {
      throw this.#broken(`${producer} had sealed ${share.promised} records and now seals ${count}`);
    }
    if (share.arrived > 0 && this.#highest(producer) >= count) {
      throw this.#broken(`${producer} seals ${count} records, but has sent one with a higher number`);
    }
    share.promised = count;
    await this.#processIfComplete();
  }

  async #processIfComplete(): Promise<void> {
    if (this.done || this.known === null) return;
    const isComplete = (name: string) => {
      const share = this.shares.get(name);
      return share !== undefined && share.promised === share.arrived;
    };
    if (!this.known.every(isComplete)) return;
    const records: T[] = [];
    for (const name of this.known.toSorted()) {
      for (let number = 0; number < (this.shares.get(name)?.promised ?? 0); number++) {
        records.push(this.held.get(recordName(name, number)) as T);
      }
    }
    this.done = true;
    this.held.clear();
    await this.process(records);
  }

  #share(producer: string): Share {
    if (this.known !== null && !this.known.includes(producer)) {
      throw this.#broken(`${producer} is none of its producers (${this.known.join(", ")})`);
    }
    let share = this.shares.get(producer);
    if (share === undefined) this.shares.set(producer, (share = { arrived: 0, promised: null }));
    return share;
  }

  #highest(producer: string): number {
    let highest = -1;
    const prefix = recordName(producer, "");
    for (const name of this.held.keys()) {
      if (name.startsWith(prefix)) highest = Math.max(highest, Number(name.slice(prefix.length)));
    }
    return highest;
  }

  #broken(what: string): HeadwaterError {
    return new HeadwaterError(
      "HW-5005",
      `Partition ${String(this.key)}: ${what}. A seal is a promise that nothing more comes; seal later, or number ` +
        "records from 0 in each partition.",
    );
  }
}

function recordName(producer: string, number: number | ""): string {
  return `${JSON.stringify(producer)}${number}`;
}

function listed(names: Iterable<string>): string {
  return [...names].join(", ") || "no producer";
}
