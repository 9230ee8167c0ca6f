import { Context, readonly } from "headwater";
import { SealedPartition, Sequencer } from "headwater/coordination";

/**
 * The word count of Blazes (section VI.A) over several logical nodes: splitters cut tweets into words, and each word goes to one of the
 * counters, which keep the counts of each batch. Three ways to decide when a part of a batch is counted:
 *
 * - `none`: when it comes.
 * - `seal`: when all splitters have sealed the batch. Batches do not wait for each other, and a part of one travels as a whole.
 * - `order`: tweet by tweet, in one order for all tweets of all splitters, which one logical node gives.
 */
export type Strategy = "none" | "seal" | "order";

export const SPLITTERS = ["Splitter1", "Splitter2"] as const;
export const COUNTERS = ["Counter1", "Counter2"] as const;

/** The words of one splitter's part of a batch. */
interface Words {
  readonly batch: number;
  readonly splitter: string;
  readonly words: readonly string[];
}

export class Splitter extends Context {
  split(name: string, batch: number, tweets: readonly string[], strategy: Strategy) {
    if (strategy === "order")
      for (const tweet of tweets)
        this.event.send(this.event.peer(Order)).submit(partsOf(name, batch, [tweet]));
    else
      for (const [i, part] of partsOf(name, batch, tweets).entries())
        this.event.send(this.event.peer(Counter, COUNTERS[i])).take(part, strategy === "seal");
  }
}

/** The words of tweets for each counter: a word always goes to the same one. */
function partsOf(splitter: string, batch: number, tweets: readonly string[]): Words[] {
  const parts = COUNTERS.map((): string[] => []);
  for (const tweet of tweets) for (const word of tweet.split(" ")) parts[placeOf(word)]?.push(word);
  return parts.map((words) => ({ batch, splitter, words }));
}

/** The counts of one batch, made when all of it is there. */
export class Tally extends SealedPartition<readonly string[], number> {
  counts: Record<string, number> = {};

  protected override producers() {
    return SPLITTERS;
  }

  protected process(parts: readonly (readonly string[])[]) {
    for (const words of parts) this.add(words);
  }

  add(words: readonly string[]) {
    for (const word of words) this.counts[word] = (this.counts[word] ?? 0) + 1;
  }

  async share(splitter: string, words: readonly string[]) {
    await this.take(splitter, 0, words);
    await this.seal(splitter, 1);
  }

  @readonly result() {
    return this.counts;
  }
}

export class Counter extends Context {
  tallies = this.children(Tally);
  /** The words that have come. */
  taken = 0;

  async take({ batch, splitter, words }: Words, isSealed: boolean) {
    this.taken += words.length;
    await (isSealed ? this.tallies(batch).share(splitter, words) : this.tallies(batch).add(words));
  }

  @readonly count() {
    return this.taken;
  }

  @readonly async counts(batches: number) {
    return await Promise.all(Array.from({ length: batches }, (_, i) => this.tallies(i).result()));
  }
}

/** One order for all tweets. */
export class Order extends Sequencer<readonly Words[]> {
  protected deliver(_: number, parts: readonly Words[]) {
    for (const [i, part] of parts.entries())
      this.event.send(this.event.peer(Counter, COUNTERS[i])).take(part, false);
  }
}

function placeOf(word: string): number {
  let hash = 0;
  for (let i = 0; i < word.length; i++) hash = (31 * hash + word.charCodeAt(i)) >>> 0;
  return hash % COUNTERS.length;
}

export default {
  Splitter1: Splitter,
  Splitter2: Splitter,
  Counter1: Counter,
  Counter2: Counter,
  Order,
};
