/** What a byte costs as long as no round has told: much, so that the first rounds are short. */
const MS_PER_BYTE_FIRST = 1e-4;
/** What a round tells counts for so much less at each further one. */
const FADING = 0.9;
/** A round that took far longer than expected was probably interrupted. */
const SURPRISE = 4;
const LEAST_MS = 0.05;

/** What rounds of a tenant take: something however small they are, and something for each byte. Learned from the rounds so far. */
export class RoundCost {
  #weight = 0;
  #bytes = 0;
  #ms = 0;
  #squares = 0;
  #products = 0;
  #fixedMs = 0;
  #msPerByte = MS_PER_BYTE_FIRST;

  /** What a round of no bytes would take. */
  get fixedMs(): number {
    return this.#fixedMs;
  }

  /**
   * How large a round may be that takes so long. A round that takes longer than that by itself is large enough to be worth it: half of
   * its time is for its bytes.
   */
  bytesWithin(ms: number): number {
    return Math.max(ms - this.#fixedMs, this.#fixedMs) / this.#msPerByte;
  }

  took(tookMs: number, bytes: number): void {
    const expected = this.#fixedMs + this.#msPerByte * bytes;
    const ms = Math.max(LEAST_MS, Math.min(tookMs, SURPRISE * expected + LEAST_MS));
    this.#weight = FADING * this.#weight + 1;
    this.#bytes = FADING * this.#bytes + bytes;
    this.#ms = FADING * this.#ms + ms;
    this.#squares = FADING * this.#squares + bytes * bytes;
    this.#products = FADING * this.#products + bytes * ms;
    this.#fit();
  }

  /** The line through what rounds took by their bytes; rounds of one size could all be for their bytes. */
  #fit(): void {
    const spread = this.#weight * this.#squares - this.#bytes * this.#bytes;
    const slope =
      spread > 0.01 * this.#bytes * this.#bytes
        ? (this.#weight * this.#products - this.#bytes * this.#ms) / spread
        : Number.POSITIVE_INFINITY;
    const most = this.#ms / this.#bytes;
    this.#msPerByte = Math.min(most, Math.max(slope, most / 100));
    this.#fixedMs = Math.max(0, (this.#ms - this.#msPerByte * this.#bytes) / this.#weight);
  }
}
