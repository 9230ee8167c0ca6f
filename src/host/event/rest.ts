import type { Ports } from "../ports/index.js";
import type { Frame } from "./frame.js";

/**
 * Methods that wait until all code that can run has run: then the next result is handed over, or the method has ended.
 * Methods share no objects, so one such moment does for all of them, and each goes on by one step.
 */
export class Rest {
  #due: Frame[] = [];

  constructor(readonly ports: Pick<Ports, "atRest" | "broken">) {}

  add(frame: Frame): void {
    this.#due.push(frame);
    if (this.#due.length === 1) this.ports.atRest(this.#goOn);
  }

  readonly #goOn = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const frame of due) {
      try {
        frame.rested();
      } catch (error) {
        this.ports.broken(error);
      }
    }
  };
}
