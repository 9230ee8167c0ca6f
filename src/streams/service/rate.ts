/** Lets so many events through per second, with a second's worth at once. */
export class Rate {
  #left: number;
  #atMs: number;

  constructor(
    public perSecond: number,
    nowMs: number,
  ) {
    this.#left = perSecond;
    this.#atMs = nowMs;
  }

  tryTake(count: number, nowMs: number): boolean {
    const gained = ((nowMs - this.#atMs) / 1000) * this.perSecond;
    this.#left = Math.min(this.perSecond, this.#left + Math.max(0, gained));
    this.#atMs = nowMs;
    if (this.#left < Math.min(count, this.perSecond)) return false;
    this.#left -= count;
    return true;
  }
}
