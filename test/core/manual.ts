import { carryOut } from "#src/core/carry-out.js";
import type { Core } from "#src/core/core.js";

/** An event that adds to a counter. */
export interface Job {
  readonly counter: number;
  readonly adds: number;
  sum: number;
  answer(sum: number): void;
}

/** Counters that are nowhere but in a journal, as if each were evicted after each event. */
export class Counters {
  readonly #journal = new Map<number, number>();

  read(counter: number): number {
    return this.#journal.get(counter) ?? 0;
  }

  write({ counter, sum }: Job): void {
    this.#journal.set(counter, sum);
  }
}

// The loop of src/core/README.md, word for word.
export function pump(core: Core<Job>, counters: Counters): void {
  while (core.hasWork) {
    carryOut(core.ready(), {
      ticketed: () => {},
      append(first) {
        for (let at = first; at !== null; at = at.along) counters.write(at.payload);
        if (first !== null) core.journaled(first);
      },
      see: () => {},
      enter({ event, ofAttempt }) {
        if (event.attempt !== ofAttempt) return;
        event.payload.sum = counters.read(event.payload.counter) + event.payload.adds;
        core.finish(event, { failed: false, starts: [], messages: [] });
      },
      settle: ({ payload }) => payload.answer(payload.sum),
      send: () => {},
    });
  }
}
