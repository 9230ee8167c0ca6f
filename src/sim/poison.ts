import type { ProgramSpec } from "./program.js";
import type { Random } from "./random.js";

/** One method of a generated program ends the host that it runs on, for some arguments: always, or the first few times. */
export class Poison {
  #left: number;

  private constructor(
    readonly cls: number,
    readonly method: string,
    readonly argument: number,
    times: number,
  ) {
    this.#left = times;
  }

  /** One seed in three has some. */
  static drawn(random: Random, { classes }: ProgramSpec): Poison | null {
    if (!random.chance(0.34)) return null;
    const cls = random.int(classes.length);
    const method = random.pick(classes[cls]?.methods ?? []);
    return new Poison(cls, method.name, random.int(10), random.pick([1, 4, 30, Number.POSITIVE_INFINITY]));
  }

  isIn(cls: number, method: string, argument: unknown): boolean {
    return this.#left > 0 && cls === this.cls && method === this.method && argument === this.argument;
  }

  /** It has ended a host. */
  acted(): void {
    this.#left -= 1;
  }
}
