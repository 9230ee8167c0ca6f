import type { Ledger, StoredAnswer } from "./ledger.js";
import type { Ports } from "./ports.js";

const AT_ONCE = 500;
const PAUSE_MS = 20;

/**
 * The answers that earlier runs of the program have given. Requests may be asked again until the answers are too old;
 * then they are removed from the journal, a few at a time.
 */
export class KeptAnswers {
  readonly #began: number;
  #isOver = false;
  #callOff: () => void;

  constructor(
    readonly ledger: Ledger,
    readonly ports: Ports,
    rememberMs: number,
  ) {
    this.#began = ports.now();
    this.#callOff = ports.at(this.#began + rememberMs, () => {
      this.#isOver = true;
      this.#remove(ledger.answers()[Symbol.iterator]());
    });
  }

  to(request: string): StoredAnswer | null {
    return this.#isOver ? null : this.ledger.answerTo(request);
  }

  stop(): void {
    this.#isOver = true;
    this.#callOff();
  }

  #remove(answers: Iterator<[key: string, answer: StoredAnswer]>): void {
    for (let count = 0; count < AT_ONCE; count++) {
      const { value, done } = answers.next();
      if (done) return;
      const [key, { time }] = value;
      if (time < this.#began) this.ledger.forgetKey(key);
    }
    this.#callOff = this.ports.at(this.ports.now() + PAUSE_MS, () => this.#remove(answers));
  }
}
