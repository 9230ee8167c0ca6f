import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { decode, encode } from "../../state/codec.js";
import { NAME_BYTES_MAX, shortened } from "../context/index.js";
import { KEPT_GENERATIONS } from "./kept-answers.js";

export interface StoredAnswer {
  readonly ok: boolean;
  readonly value: unknown;
  /** When its event got its ticket. */
  readonly time: number;
}

/** The number of the youngest generation. */
const GENERATION = "g";
const DIGITS = 12;
/** Answers of journals that knew no generations. They go with the oldest generation that was there when the journal was opened. */
const WITHOUT_GENERATION = "a/";

/**
 * The answers in a journal, under the number of their generation. Nothing is written when an answer gets too old, and no code has
 * to look at young answers for old ones: whole generations go.
 *
 *     r/GENERATION/REQUEST   the answer to a request that carries an id
 *     g                      the number of the youngest generation
 */
export class StoredAnswers {
  #generation: number;
  /** Which generation there was when the journal was opened. */
  readonly #first: number;
  #hasOlder: boolean;

  constructor(readonly journal: Journal) {
    const known = journal.get(GENERATION);
    this.#generation = this.#first = known === undefined ? KEPT_GENERATIONS : (decode(known) as number);
    this.#hasOlder = !isEmpty(journal.range(WITHOUT_GENERATION));
  }

  to(request: string): StoredAnswer | null {
    const name = shortened(request, NAME_BYTES_MAX);
    for (let back = 0; back < KEPT_GENERATIONS; back++) {
      const bytes = this.journal.get(prefixOf(this.#generation - back) + name);
      if (bytes !== undefined) return answerIn(bytes);
    }
    const bytes = this.#hasOlder ? this.journal.get(WITHOUT_GENERATION + name) : undefined;
    return bytes === undefined ? null : answerIn(bytes);
  }

  write(request: string, ok: boolean, value: unknown, time: number): Write {
    const isOurs = value instanceof HeadwaterError;
    const answer = isOurs ? [ok, value.message, time, value.code] : [ok, value, time];
    return { key: this.key(request), value: encode(answer) };
  }

  /** The key of an answer of the youngest generation. */
  key(request: string): string {
    return prefixOf(this.#generation) + shortened(request, NAME_BYTES_MAX);
  }

  /** Begins a new generation. If this fails, so does every later commit, and those are waited for. */
  turn(): void {
    this.#generation += 1;
    this.journal.append([{ key: GENERATION, value: encode(this.#generation) }], () => {});
  }

  /** What the keys of the generations that are kept begin with, the oldest first. */
  prefixes(): string[] {
    return Array.from({ length: KEPT_GENERATIONS }, (_, i) =>
      prefixOf(this.#generation - KEPT_GENERATIONS + 1 + i),
    );
  }

  /** The keys of answers that are kept no longer. */
  *outdated(): Iterable<string> {
    const kept = prefixOf(this.#generation - KEPT_GENERATIONS + 1);
    for (const [key] of this.journal.range("r/")) {
      if (key >= kept) break;
      yield key;
    }
    if (!this.#hasOlder || this.#generation < this.#first + KEPT_GENERATIONS) return;
    for (const [key] of this.journal.range(WITHOUT_GENERATION)) yield key;
    this.#hasOlder = false;
  }
}

function prefixOf(generation: number): string {
  return `r/${String(generation).padStart(DIGITS, "0")}/`;
}

function isEmpty(entries: Iterable<unknown>): boolean {
  for (const _ of entries) return false;
  return true;
}

function answerIn(bytes: Uint8Array): StoredAnswer {
  const [ok, value, time, code] = decode(bytes) as [boolean, unknown, number, string?];
  if (code === undefined) return { ok, value, time };
  return { ok, value: HeadwaterError.restored(code, String(value)), time };
}
