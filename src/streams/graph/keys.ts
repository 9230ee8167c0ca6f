import { hash } from "node:crypto";
import type { Accepted, PushAnswer } from "./answers.js";
import type { CheckpointPart, OwnParts } from "./parts.js";
import { partsBelow } from "./parts.js";
import { Segments } from "./segments.js";

export const KEYS_MS = 3600 * 1000;
const KEYS_BYTES_MAX = 32 * 1024 * 1024;
/** What an answer takes in memory besides its text. */
const ENTRY_BYTES = 200;
const PREFIX = "keys/";

interface Kept {
  readonly key: string;
  /** Of the rows: a key that comes with other rows is a mistake of its sender. */
  readonly sum: string;
  readonly answer: Accepted;
}

/** The answers to pushes with an Idempotency-Key, for an hour each. */
export class KeptAnswers {
  readonly #answers = new Map<string, Kept>();
  readonly #log = new Segments();

  get memoryBytes(): number {
    return 2 * this.#log.bytes + ENTRY_BYTES * this.#answers.size;
  }

  /** The answer to a push that was taken before, why it is refused, or `null` if it is new. */
  answer(key: string, batch: Uint8Array): PushAnswer | null {
    const kept = this.#answers.get(key);
    if (kept === undefined)
      return this.memoryBytes < KEYS_BYTES_MAX
        ? null
        : {
            code: "HW-5408",
            message: `the answers of the last hour that are kept for Idempotency-Keys take ${KEYS_BYTES_MAX} bytes. Send fewer and larger batches, or number them: producer and sequence.`,
          };
    if (kept.sum === sumOf(batch)) return { ...kept.answer, isRepeated: true };
    return {
      code: "HW-4019",
      message: "this Idempotency-Key was used for other rows. Use a new key for each batch.",
    };
  }

  keep(key: string, batch: Uint8Array, answer: Accepted, round: number, timeMs: number): void {
    const kept: Kept = { key, sum: sumOf(batch), answer };
    this.#answers.set(key, kept);
    this.#log.append(Buffer.from(JSON.stringify(kept), "utf8"), 1, round, timeMs);
  }

  expire(timeMs: number): void {
    for (const { bytes } of this.#log.trim(Number.POSITIVE_INFINITY, timeMs - KEYS_MS))
      this.#answers.delete(keptIn(bytes).key);
  }

  get position() {
    return this.#log.position;
  }

  checkpoint(): Iterable<CheckpointPart> {
    return this.#log.checkpoint(PREFIX);
  }

  load(position: Segments["position"], parts: OwnParts): void {
    this.#log.load(
      position,
      partsBelow(parts, PREFIX).map(([, bytes]) => bytes),
    );
    for (const { bytes } of this.#log.all) {
      const kept = keptIn(bytes);
      this.#answers.set(kept.key, kept);
    }
  }
}

/** Not a CRC: encoded batches end with their own, and the CRC of all of them is the same then. */
function sumOf(batch: Uint8Array): string {
  return hash("sha256", batch, "base64").slice(0, 16);
}

function keptIn(bytes: Buffer): Kept {
  return JSON.parse(bytes.toString("utf8")) as Kept;
}
