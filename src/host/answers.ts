interface Answer {
  readonly id: string;
  readonly promise: Promise<unknown>;
  /** When it was given; null while its event is under way. */
  answeredAt: number | null;
}

/**
 * Requests that carry an id have their effect once: asked again within the time for which answers are remembered,
 * they get the first answer, also while that is still to come.
 */
export class Answers {
  readonly #known = new Map<string, Answer>();
  /** Answered ones in the order of their answers, from `#oldest` on. */
  #answered: Answer[] = [];
  #oldest = 0;

  constructor(
    readonly now: () => number,
    readonly rememberMs: number,
    readonly countMax: number,
    readonly forgotten: (id: string) => void = () => {},
  ) {}

  once(id: string, ask: () => Promise<unknown>): Promise<unknown> {
    this.#forget();
    const known = this.#known.get(id);
    if (known !== undefined) return known.promise;
    const answer: Answer = { id, promise: ask(), answeredAt: null };
    this.#known.set(id, answer);
    const settled = () => {
      answer.answeredAt = this.now();
      this.#answered.push(answer);
    };
    answer.promise.then(settled, settled);
    return answer.promise;
  }

  /** Drops what is too old, and the oldest if there are too many. */
  #forget(): void {
    const before = this.now() - this.rememberMs;
    while (this.#oldest < this.#answered.length) {
      const { id, answeredAt } = this.#answered[this.#oldest] as Answer;
      if ((answeredAt ?? 0) >= before && this.#known.size < this.countMax) break;
      this.#known.delete(id);
      this.forgotten(id);
      this.#oldest += 1;
    }
    if (this.#oldest > 1000 && this.#oldest * 2 > this.#answered.length) {
      this.#answered = this.#answered.slice(this.#oldest);
      this.#oldest = 0;
    }
  }
}
