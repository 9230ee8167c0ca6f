import { HeadwaterError } from "../../errors.js";
import { given } from "../../state/bytes.js";
import { encodeCommand, isRefused } from "../graph/index.js";
import type { PushReceipt } from "../typed/index.js";
import type { CarriedOut } from "./exports.js";
import { RoundCost } from "./round-cost.js";
import { RoundPushes, type RowsToPush, sizeOf } from "./rows-to-push.js";
import type { TenantTurn } from "./turns.js";

/** What one event takes at most. */
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** A share of nothing would never end. */
const SHARE_MIN = 0.001;
/** What may wait for one graph. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

interface Waiting {
  readonly rows: RowsToPush;
  readonly bytes: number;
  resolve(answer: PushReceipt): void;
  reject(error: unknown): void;
}

/**
 * Gathers batches for one graph: it takes at once what has come while its last event was in flight, or while it waited for its turn
 * (`turns.ts`). Many small pushes are few events then, and one push alone does not wait.
 */
export class Gatherer {
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isInFlight = false;

  readonly #cost = new RoundCost();
  /** What the tenant has had of the thread besides its rounds, since the last one. */
  #besidesMs = 0;

  constructor(
    readonly carryOut: (record: Uint8Array) => Promise<CarriedOut>,
    /** Of one core. */
    public cpuShare: number,
    readonly turn: TenantTurn,
  ) {}

  /** Reading what is pushed takes the thread, too. */
  reading<T>(read: () => T): T {
    const began = performance.now();
    const found = read();
    const tookMs = performance.now() - began;
    this.#besidesMs += tookMs;
    this.turn.spent(tookMs);
    return found;
  }

  push(rows: RowsToPush): Promise<PushReceipt> {
    const bytes = sizeOf(rows);
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX)
      return Promise.reject(
        new HeadwaterError(
          "HW-5408",
          `${WAITING_BYTES_MAX} bytes wait for the streams of this tenant. Nothing was pushed; try again later.`,
        ),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, bytes, resolve, reject });
      this.#waitingBytes += bytes;
      this.turn.pushed(this.#waitingBytes);
      if (!this.#isInFlight) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isInFlight = true;
    while (this.#waiting.length > 0) {
      const turn = this.turn.next(this.#waitingBytes);
      if (turn !== null) await turn;
      const taken = this.#take();
      this.turn.begins(taken.length);
      let restMs = 0;
      try {
        const round = new RoundPushes(taken.map(({ rows }) => rows));
        const record = given(encodeCommand({ kind: "push", pushes: round.pushes }));
        const { answers: found, tookMs } = await this.carryOut(record);
        const answers = round.answers(found);
        this.#cost.took(tookMs, bytesOf(taken));
        this.turn.took(tookMs);
        const usedMs = tookMs + this.#besidesMs;
        this.#besidesMs = 0;
        restMs = this.cpuShare >= 1 ? 0 : usedMs / Math.max(this.cpuShare, SHARE_MIN) - usedMs;
        for (const [i, { resolve, reject }] of taken.entries()) {
          const answer = answers[i];
          if (answer === undefined || isRefused(answer))
            reject(new HeadwaterError(answer?.code ?? "HW-9001", answer?.message ?? "a push has no answer"));
          else resolve(answer);
        }
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
      if (restMs >= 1) await new Promise<void>((resolve) => this.turn.turns.clock.after(restMs, resolve));
    }
    this.#isInFlight = false;
  }

  #take(): Waiting[] {
    const bytesMax = Math.min(EVENT_BYTES_MAX, this.#cost.bytesWithin(this.turn.turns.roundMs));
    let [count, bytes] = [0, 0];
    for (const { bytes: own } of this.#waiting) {
      if (count > 0 && bytes + own > bytesMax) break;
      bytes += own;
      count++;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }
}

function bytesOf(taken: readonly Waiting[]): number {
  return taken.reduce((sum, { bytes }) => sum + bytes, 0);
}
