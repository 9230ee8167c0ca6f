import type { Random } from "../../random.js";

/** Most programs have as many classes, and classes as many methods. */
const [CLASSES, METHODS] = [4, 2];

/** One method of a generated program ends the host that it runs on, for some arguments: always, or the first few times. */
export class Poison {
  #left: number;

  private constructor(
    /** Null for any, with any method and argument, but only in events that no caller outside has asked for. */
    readonly cls: number | null,
    readonly method: string,
    readonly argument: number,
    times: number,
  ) {
    this.#left = times;
  }

  /** One seed in three has some. It does not depend on the program, which may get smaller: maybe it has no such method. */
  static drawn(random: Random): Poison | null {
    if (!random.chance(0.34)) return null;
    const [cls, method] = [random.int(CLASSES), `m${random.int(METHODS)}`];
    if (random.chance(0.5)) return new Poison(null, method, 0, random.pick([4, 30, 60]));
    return new Poison(cls, method, random.int(10), random.pick([1, 4, 30, Number.POSITIVE_INFINITY]));
  }

  isIn(cls: number, method: string, argument: unknown, isRequest: boolean): boolean {
    if (this.#left === 0) return false;
    if (this.cls === null) return !isRequest;
    return cls === this.cls && method === this.method && argument === this.argument;
  }

  /** It has ended a host. */
  acted(): void {
    this.#left -= 1;
  }
}
