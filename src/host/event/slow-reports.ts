import { HeadwaterError } from "../../errors.js";

/** So many events are named in one look; the others are counted. A program with many waiting events does not flood its log. */
const NAMED_MAX = 10;

/** Warnings about slow events that one look finds. */
export class SlowReports {
  #named = 0;
  #others = 0;

  constructor(readonly warn: (warning: HeadwaterError) => void) {}

  report(nameOf: () => string, what: string): void {
    if (this.#named === NAMED_MAX) this.#others += 1;
    else {
      this.#named += 1;
      this.warn(new HeadwaterError("HW-6006", `${nameOf()} ${what}`));
    }
  }

  /** The look is over: reports how many slow events it has not named. */
  end(): void {
    const [named, others] = [this.#named, this.#others];
    this.#named = 0;
    this.#others = 0;
    if (others === 0) return;
    const which = others === 1 ? "1 more event has" : `${others} more events have`;
    this.warn(new HeadwaterError("HW-6006", `${which} been running as long as the ${named} named before.`));
  }
}
