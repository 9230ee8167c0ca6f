import type { AnyRow, PushReceipt } from "../typed/index.js";

/** The values of the columns that name a partition. */
export type SealedKey = readonly (string | number | boolean | null)[];

type Send<P> = (rows: readonly P[], sequence: number, seals: readonly SealedKey[]) => Promise<PushReceipt>;

/**
 * Numbers the batches of one producer, so that each is taken once and in order however often it is sent: also by the next
 * process of the same name, which goes on behind the last batch that the server has.
 */
export class Producer<P = AnyRow> {
  readonly #begin: () => Promise<number>;
  readonly #send: Send<P>;
  #sequence: number | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(begin: () => Promise<number>, send: Send<P>) {
    this.#begin = begin;
    this.#send = send;
  }

  /** The number that the next batch gets. A process that knows what it had sent compares. */
  async next(): Promise<number> {
    await this.#turn;
    this.#sequence ??= await this.#begin();
    return this.#sequence;
  }

  /**
   * Pushes one batch behind those before it. A batch that is refused has no number: the next one takes it. Behind its rows, it seals
   * partitions, each by the values of the columns that name it: no row of this producer comes for them any more.
   */
  push(rows: readonly P[], seals: readonly SealedKey[] = []): Promise<PushReceipt> {
    const answered = this.#turn.then(async () => {
      const sequence = this.#sequence ?? (await this.#begin());
      this.#sequence = sequence;
      const answer = await this.#send(rows, sequence, seals);
      this.#sequence = sequence + 1;
      return answer;
    });
    this.#turn = answered.catch(() => {});
    return answered;
  }

  seal(...partitions: readonly SealedKey[]): Promise<PushReceipt> {
    return this.push([], partitions);
  }
}
