import { HeadwaterError } from "../../errors.js";
import { type CommandOutcome, encodeCommand, isRefused, type Push, type PushAnswer } from "../graph/index.js";

/** What one event takes at most. */
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** What may wait for one graph. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

export type Taken = Exclude<PushAnswer, { readonly code: unknown }>;

interface Waiting {
  readonly push: Push;
  resolve(answer: Taken): void;
  reject(error: unknown): void;
}

/**
 * Gathers batches for one graph: it takes at once what has come while its last event was in flight. Many small pushes are
 * few events then, and one push alone does not wait.
 */
export class Gatherer {
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isInFlight = false;

  constructor(readonly carryOut: (record: Uint8Array) => Promise<CommandOutcome>) {}

  push(push: Push): Promise<Taken> {
    if (this.#waitingBytes + push.batch.length > WAITING_BYTES_MAX)
      return Promise.reject(
        new HeadwaterError(
          "HW-5408",
          `${WAITING_BYTES_MAX} bytes wait for the streams of this tenant. Nothing was pushed; try again later.`,
        ),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ push, resolve, reject });
      this.#waitingBytes += push.batch.length;
      if (!this.#isInFlight) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isInFlight = true;
    while (this.#waiting.length > 0) {
      const taken = this.#take();
      try {
        const record = encodeCommand({ kind: "push", pushes: taken.map(({ push }) => push) });
        const { answers } = await this.carryOut(record);
        for (const [i, { resolve, reject }] of taken.entries()) {
          const answer = answers[i];
          if (answer === undefined || isRefused(answer))
            reject(new HeadwaterError(answer?.code ?? "HW-9001", answer?.message ?? "a push has no answer"));
          else resolve(answer);
        }
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    this.#isInFlight = false;
  }

  #take(): Waiting[] {
    let [count, bytes] = [0, 0];
    for (const { push } of this.#waiting) {
      if (count > 0 && bytes + push.batch.length > EVENT_BYTES_MAX) break;
      bytes += push.batch.length;
      count++;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }
}
