import { Random } from "#src/random.js";

const RANGE = 2 ** 16;

/**
 * Choices that are written down as they are made, so that whatever was made by them can be made again, also from fewer or
 * smaller ones. 0 always stands for the simplest; when a list is used up, all that follow are 0.
 */
export class Choices {
  readonly taken: number[] = [];
  readonly #given: readonly number[] | null;
  readonly #random: Random;

  constructor(from: number | readonly number[]) {
    this.#given = typeof from === "number" ? null : from;
    this.#random = new Random(typeof from === "number" ? from : 0);
  }

  int(below: number): number {
    const raw = this.#given === null ? this.#random.int(RANGE) : (this.#given[this.taken.length] ?? 0);
    this.taken.push(raw);
    return raw % below;
  }

  /** One in so many; the simplest is no. */
  oneIn(many: number): boolean {
    return this.int(many) === many - 1;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.int(from.length)];
    if (found === undefined) throw new RangeError("there is nothing to pick from");
    return found;
  }

  list<T>(least: number, most: number, make: () => T): T[] {
    const length = least + this.int(most - least + 1);
    return Array.from({ length }, make);
  }
}

/** How often a smaller list is tried in vain or not. */
const TRIES_MAX = 600;

/** The smallest list of choices, as far as it is found, that still does what `does` asks for. */
export async function smallest(
  choices: readonly number[],
  does: (choices: readonly number[]) => Promise<boolean>,
): Promise<readonly number[]> {
  let best = choices;
  let tries = 0;
  const attempt = async (candidate: readonly number[]): Promise<boolean> => {
    tries += 1;
    if (tries > TRIES_MAX || !(await does(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before = -1; before !== best.length && tries < TRIES_MAX; ) {
    before = best.length;
    for (const size of [32, 8, 4, 2, 1]) {
      for (let at = best.length - size; at >= 0; at -= size)
        await attempt([...best.slice(0, at), ...best.slice(at + size)]);
    }
  }
  for (let at = 0; at < best.length && tries < TRIES_MAX; at++) {
    for (const smaller of new Set([0, 1, (best[at] ?? 0) >> 4])) {
      if (smaller < (best[at] ?? 0) && (await attempt(best.with(at, smaller)))) break;
    }
  }
  return best;
}
