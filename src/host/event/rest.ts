import type { Ports } from "../ports/index.js";
import type { Frame } from "./frame.js";

const NONE: readonly Frame[] = [];

/**
 * Methods that wait until all code that can run has run: then the next result is handed over, or the method has ended.
 * Methods share no objects, so one such moment does for all of them, and each goes on by one step.
 */
export class Rest {
  /** The first that is due, and the others: where events run one after the other, there is one at a time. */
  #first: Frame | null = null;
  #others: Frame[] | null = null;

  constructor(readonly ports: Pick<Ports, "atRest" | "broken">) {}

  add(frame: Frame): void {
    if (this.#first !== null) {
      this.#others ??= [];
      this.#others.push(frame);
      return;
    }
    this.#first = frame;
    this.ports.atRest(this.#goOn);
  }

  readonly #goOn = (): void => {
    const [first, others] = [this.#first, this.#others ?? NONE];
    this.#first = null;
    this.#others = null;
    if (first !== null) this.#rested(first);
    for (const frame of others) this.#rested(frame);
  };

  #rested(frame: Frame): void {
    try {
      frame.rested();
    } catch (error) {
      this.ports.broken(error);
    }
  }
}
