import { HeadwaterError } from "../../errors.js";
import type { KeyTable, Write } from "../../journal/journal.js";
import { decode, encode } from "../../state/codec.js";
import { NAME_BYTES_MAX, shortened } from "../context/index.js";
import type { KeptAnswer } from "./kept-answers.js";

/** The answers of one commit that are kept for one gateway: number, how it ended, and the value, one after the other. */
export type GatheredAnswers = unknown[];

interface Batch {
  readonly key: string;
  readonly highest: number;
}

/** What is kept for a gateway, as of when it connected. */
export interface RelayedKept {
  get(number: number): KeptAnswer | null;
  /** The gateway has the answers to all requests below this number. */
  answered(below: number): void;
}

const ITEMS = 3;
const DIGITS = 16;

/**
 * Answers to the requests that gateways relay. A gateway asks for an answer again only if it had no answer when its link broke, so they are
 * kept many to a key: one key for each commit and gateway, r/GENERATION/relayed:GATEWAY/NUMBER, with the first of its numbers. They are
 * read when the gateway connects.
 */
export class RelayedAnswers {
  /** Per gateway, in the order of their writing. */
  readonly #batches = new Map<string, Batch[]>();
  readonly #table: KeyTable;
  /** The prefixes of the generations that are kept, the oldest first. */
  readonly #prefixes: () => readonly string[];
  readonly #forget: (key: string) => void;

  constructor(table: KeyTable, prefixes: () => readonly string[], forget: (key: string) => void) {
    this.#table = table;
    this.#prefixes = prefixes;
    this.#forget = forget;
  }

  write(gateway: string, answers: GatheredAnswers): Write {
    let batches = this.#batches.get(gateway);
    if (batches === undefined) {
      batches = [];
      this.#batches.set(gateway, batches);
    }
    let highest = 0;
    for (let i = 0; i < answers.length; i += ITEMS) highest = Math.max(highest, answers[i] as number);
    const prefix = `${this.#prefixes().at(-1)}${nameOf(gateway)}`;
    const key = prefix + String(answers[0]).padStart(DIGITS, "0");
    batches.push({ key, highest });
    return { key, value: encode(answers) };
  }

  /** A gateway has connected. */
  open(gateway: string): RelayedKept {
    const kept = new Map<number, KeptAnswer>();
    const batches: Batch[] = [];
    for (const prefix of this.#prefixes()) {
      for (const [key, bytes] of this.#table.range(prefix + nameOf(gateway))) {
        const answers = decode(bytes) as GatheredAnswers;
        let highest = 0;
        for (let i = 0; i < answers.length; i += ITEMS) {
          const number = answers[i] as number;
          highest = Math.max(highest, number);
          kept.set(number, answerOf(answers[i + 1] as boolean | string, answers[i + 2]));
        }
        batches.push({ key, highest });
      }
    }
    this.#batches.set(gateway, batches);
    return {
      get: (number) => kept.get(number) ?? null,
      answered: (below) => this.#answered(gateway, below, kept),
    };
  }

  /** Keys of generations that are gone were dropped with them. */
  dropOutdated(): void {
    const [oldest = ""] = this.#prefixes();
    for (const [gateway, batches] of this.#batches) {
      while (batches[0] !== undefined && batches[0].key < oldest) batches.shift();
      if (batches.length === 0) this.#batches.delete(gateway);
    }
  }

  #answered(gateway: string, below: number, kept: Map<number, KeptAnswer>): void {
    const batches = this.#batches.get(gateway) ?? [];
    let count = 0;
    for (const { key, highest } of batches) {
      if (highest >= below) break;
      this.#forget(key);
      count += 1;
    }
    batches.splice(0, count);
    if (kept.size > 0) for (const number of [...kept.keys()]) if (number < below) kept.delete(number);
  }
}

/** Adds an answer to what is written in one key. */
export function gather(answers: GatheredAnswers, number: number, ok: boolean, value: unknown): void {
  if (value instanceof HeadwaterError) answers.push(number, value.code, value.message);
  else answers.push(number, ok, value);
}

function answerOf(ended: boolean | string, value: unknown): KeptAnswer {
  if (typeof ended === "boolean") return { ok: ended, value };
  return { ok: false, value: HeadwaterError.restored(ended, String(value)) };
}

function nameOf(gateway: string): string {
  return `relayed:${shortened(gateway, NAME_BYTES_MAX)}/`;
}
