import type { Accepted, PushAnswer, Refused } from "./answers.js";
import type { EventTime } from "./definition.js";

/** So many answers are kept per producer: a producer has no more batches in flight. */
const ANSWERS_MAX = 8;
/** More producers of one stream are refused. */
const PRODUCERS_MAX = 10_000;
/** A producer that has pushed nothing for so long is forgotten. */
const FORGET_MS = 24 * 3600 * 1000;
const PRODUCER_BYTES = 300;

/** The watermark of a stream that is complete. */
export const END_OF_TIME = 8.64e15;

interface Producer {
  /** The number of its last batch; `null` if it does not number them. */
  sequence: number | null;
  /** Of its last batches, the last one last. */
  answers: Accepted[];
  /** The greatest event time that it has sent; `null` before the first. */
  greatest: number | null;
  /** What it has sealed: no row below comes any more. */
  sealedUpTo: number | null;
  isFinished: boolean;
  activeMs: number;
}

/**
 * The producers of a stream: which of their batches were taken, and how far each is in event time. The watermark is the
 * least over the producers of their greatest time less the allowed lateness. Idle and finished producers do not hold it
 * back. When all are idle, event time is taken to go on at the pace of the clock, so that a quiet stream's windows close.
 */
export class Producers {
  #known = new Map<string, Producer>();
  #isComplete = false;
  #watermark: number | null = null;

  constructor(readonly time: EventTime | null) {}

  get watermark(): number | null {
    return this.#watermark;
  }

  get memoryBytes(): number {
    return PRODUCER_BYTES * this.#known.size;
  }

  /** How far producers are in the numbers of their batches, and in event time. */
  get described() {
    return [...this.#known].map(([name, { sequence, greatest, isFinished }]) => ({
      name,
      sequence,
      greatest,
      isFinished,
    }));
  }

  sequenceOf(name: string): number | null {
    return this.#known.get(name)?.sequence ?? null;
  }

  /** The answer to a batch that was taken before, why it is refused, or `null` if it is new. */
  answer(name: string, sequence: number | null): PushAnswer | null {
    const producer = this.#known.get(name);
    if (sequence !== null && producer?.sequence != null && sequence <= producer.sequence)
      return repeated(name, sequence, producer.sequence, producer.answers);
    if (this.#isComplete || producer?.isFinished === true)
      return {
        code: "HW-5406",
        message: this.#isComplete
          ? "the stream is sealed: all of its producers have sealed it. Nothing was pushed."
          : `the producer "${name}" has sealed the stream. Nothing was pushed.`,
      };
    if (sequence !== null && producer?.sequence != null && sequence !== producer.sequence + 1)
      return {
        code: "HW-5407",
        message: `the producer "${name}" sent batch ${sequence} after batch ${producer.sequence}; the ones between are missing. Send batch ${producer.sequence + 1} first.`,
      };
    if (producer === undefined && this.#known.size >= PRODUCERS_MAX)
      return {
        code: "HW-5408",
        message: `the stream has ${PRODUCERS_MAX} producers. Use names that stay the same.`,
      };
    return null;
  }

  /** Notes a batch that was taken. `greatest` is the greatest event time in it. */
  take(
    name: string,
    sequence: number | null,
    accepted: Accepted,
    greatest: number | null,
    timeMs: number,
  ): void {
    const producer = this.#producer(name, timeMs);
    producer.activeMs = timeMs;
    if (greatest !== null) producer.greatest = Math.max(producer.greatest ?? greatest, greatest);
    if (sequence === null) return;
    producer.sequence = sequence;
    producer.answers.push(accepted);
    if (producer.answers.length > ANSWERS_MAX) producer.answers.shift();
  }

  /** A stream is complete when all its producers have sealed it, also `declared` ones that have not pushed yet. */
  seal(name: string, upTo: number | null, timeMs: number, declared: readonly string[] = []): Refused | null {
    if (upTo !== null && this.time === null)
      return { code: "HW-5403", message: "a stream without an event time cannot be sealed up to one." };
    const producer = this.#producer(name, timeMs);
    if (upTo === null) producer.isFinished = true;
    else producer.sealedUpTo = Math.max(producer.sealedUpTo ?? upTo, upTo);
    this.#isComplete =
      declared.every((each) => this.#known.has(each)) &&
      [...this.#known.values()].every(({ isFinished }) => isFinished);
    return null;
  }

  /** The watermark as of now. It never goes back. */
  advance(timeMs: number): number | null {
    if (this.time === null) return this.#isComplete ? END_OF_TIME : null;
    const reached = this.#isComplete ? END_OF_TIME : this.#reached(this.time, timeMs);
    if (reached !== null) this.#watermark = Math.max(this.#watermark ?? reached, reached);
    return this.#watermark;
  }

  #reached({ latenessMs, idleMs }: EventTime, timeMs: number): number | null {
    let least: number | null = null;
    let quiet: number | null = null;
    for (const { greatest, sealedUpTo, isFinished, activeMs } of this.#known.values()) {
      if (isFinished) continue;
      const own = greatest === null ? sealedUpTo : Math.max(greatest - latenessMs, sealedUpTo ?? -Infinity);
      const idleForMs = timeMs - activeMs;
      if (idleForMs < idleMs) {
        if (own === null) return null;
        least = Math.min(least ?? own, own);
      } else if (own !== null) quiet = Math.max(quiet ?? own, own + idleForMs);
    }
    return least ?? quiet;
  }

  /** Forgets producers that have not been heard of for long. */
  forget(timeMs: number): void {
    for (const [name, { activeMs, isFinished }] of this.#known)
      if (!isFinished && timeMs - activeMs > FORGET_MS) this.#known.delete(name);
  }

  #producer(name: string, timeMs: number): Producer {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const made: Producer = {
      sequence: null,
      answers: [],
      greatest: null,
      sealedUpTo: null,
      isFinished: false,
      activeMs: timeMs,
    };
    this.#known.set(name, made);
    return made;
  }

  get state() {
    return { known: [...this.#known], isComplete: this.#isComplete, watermark: this.#watermark };
  }

  load(state: Producers["state"]): void {
    this.#known = new Map(state.known);
    this.#isComplete = state.isComplete;
    this.#watermark = state.watermark;
  }
}

function repeated(name: string, sequence: number, last: number, answers: readonly Accepted[]): PushAnswer {
  const answer = answers[answers.length - 1 - (last - sequence)];
  if (answer !== undefined) return { ...answer, isRepeated: true };
  return {
    code: "HW-5407",
    message: `batch ${sequence} of the producer "${name}" was taken long ago, and its answer is not kept any more. Its last batch is ${last}.`,
  };
}
