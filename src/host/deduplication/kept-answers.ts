import type { Marks } from "../../core/marks.js";
import { HeadwaterError } from "../../errors.js";
import { copyKept, copyThrown } from "../../state/values.js";
import type { Ports } from "../ports/index.js";
import type { Ledger } from "../store/index.js";

/** So many generations are there at a time. All but the youngest are as long as answers are kept, together. */
export const KEPT_GENERATIONS = 3;

export interface KeptAnswer {
  readonly ok: boolean;
  readonly value: unknown;
}

/** Where answers are kept: in memory, or in the journal. */
export interface AnswerStore {
  readonly isInMemory: boolean;
  get(request: string): KeptAnswer | null;
  put(request: string, ok: boolean, value: unknown): void;
  /** No request will ask for it again. */
  forget(request: string): void;
  /** Begins a new generation and drops the oldest. */
  turn(): void;
  stop(): void;
}

/** Without a journal, the answers to requests that are named are kept in memory; those to numbered ones by their series. */
export class AnswersInMemory implements AnswerStore {
  readonly isInMemory = true;
  /** The youngest first. */
  #generations: Map<string, KeptAnswer>[] = [new Map()];

  get(request: string): KeptAnswer | null {
    for (const generation of this.#generations) {
      const kept = generation.get(request);
      if (kept !== undefined) return ownCopy(kept);
    }
    return null;
  }

  put(request: string, ok: boolean, value: unknown): void {
    this.#generations[0]?.set(request, ownCopy({ ok, value }));
  }

  forget(): void {}

  turn(): void {
    this.#generations = [new Map(), ...this.#generations.slice(0, KEPT_GENERATIONS - 1)];
  }

  stop(): void {}
}

/** Each caller gets a copy of its own, which it may change. */
export function ownCopy({ ok, value }: KeptAnswer): KeptAnswer {
  if (ok) return { ok, value: copyKept(value) };
  return { ok, value: value instanceof HeadwaterError ? value : copyThrown(value) };
}

const AT_ONCE = 500;
const PAUSE_MS = 20;

/** With a journal, an answer is written with the commit of its event, and looked up there. */
export class AnswersInJournal implements AnswerStore {
  readonly isInMemory = false;
  #isOver = false;
  #isDropping = false;
  #callOff: () => void = () => {};

  constructor(
    readonly ledger: Ledger,
    readonly ports: Ports,
    readonly marks: Marks | undefined,
  ) {}

  get(request: string): KeptAnswer | null {
    // When the journal has failed, what it gives out may not be safe.
    const kept = this.#isOver ? null : this.ledger.answerTo(request);
    if (kept !== null) this.marks?.hit("a request was answered from the journal");
    return kept;
  }

  put(): void {}

  forget(request: string): void {
    this.ledger.forgetAnswer(request);
  }

  turn(): void {
    this.ledger.answers.turn();
    this.ledger.relayed.dropOutdated();
    if (this.#isDropping) return; // the next turn will drop it
    this.#isDropping = true;
    this.#drop(this.ledger.answers.outdated()[Symbol.iterator]());
  }

  stop(): void {
    this.#isOver = true;
    this.#callOff();
  }

  /** A few at a time, so that commits do not wait for it. */
  #drop(keys: Iterator<string>): void {
    const outdated: string[] = [];
    for (let next = keys.next(); !next.done; next = keys.next()) {
      if (outdated.push(next.value) === AT_ONCE) break;
    }
    this.ledger.forgetKeys(outdated);
    this.#isDropping = outdated.length === AT_ONCE;
    if (this.#isDropping) {
      this.#callOff = this.ports.at(this.ports.now() + PAUSE_MS, () => this.#drop(keys));
    }
  }
}
