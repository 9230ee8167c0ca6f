/** How large the replies of a function are. */
export interface Called {
  /** How large a reply is to be expected: as the largest of the last ones. */
  readonly expectedBytes: number;
  /** A reply had this size. */
  replied(bytes: number): void;
}

/** How fast a large reply is forgotten by what is expected of the next ones. */
const FORGET = 16;

/** What is expected after a reply of this size: it grows at once and shrinks slowly. */
export function learned(expected: number, bytes: number): number {
  if (bytes === expected) return expected;
  return Math.max(bytes, expected - Math.ceil((expected - bytes) / FORGET));
}

/** The replies of one function to one caller. What other callers get for their arguments says little about them. */
export class ExpectedReply implements Called {
  #own = -1;

  constructor(
    /** The replies of the function to all callers, as long as this caller has had none. */
    readonly all: Called,
    readonly firstBytesMax: number,
  ) {}

  get expectedBytes(): number {
    return this.#own < 0 ? Math.min(this.all.expectedBytes, this.firstBytesMax) : this.#own;
  }

  replied(bytes: number): void {
    this.#own = learned(Math.max(0, this.#own), bytes);
    this.all.replied(bytes);
  }
}
