import type { Ports } from "../ports/index.js";
import type { Frame } from "./frame.js";

/** Calls that are nested deeper begin on a stack of their own. */
const NESTED_MAX = 16;

/**
 * Runs calls below that wait for nothing before their callers go on, as an async function does: most calls are of that
 * kind, and no list, turn or entry request has to be made for them. Their results are handed over like all others.
 */
export class AtOnce {
  /** How many calls run on top of one another. */
  #nested = 0;

  constructor(
    readonly ports: Pick<Ports, "run" | "runsNow" | "soon" | "broken">,
    readonly isHalted: () => boolean,
  ) {}

  get isPossible(): boolean {
    if (this.#nested >= NESTED_MAX || this.isHalted()) return false;
    return this.ports.runsNow === undefined || this.ports.runsNow();
  }

  run(frame: Frame): void {
    this.#nested += 1;
    try {
      frame.run();
    } catch (error) {
      this.ports.broken(error); // not for the caller to catch
    }
    this.#nested -= 1;
  }

  /** Runs a call that need not ask the core. */
  runOrSoon(frame: Frame): void {
    if (this.isPossible) return this.run(frame);
    const { ports } = this;
    const goOn = () => {
      if (!this.isHalted()) frame.run();
    };
    ports.soon(() => (ports.run === undefined ? goOn() : ports.run(goOn)));
  }
}
