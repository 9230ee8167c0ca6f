/** How fast something large is forgotten by what is expected of the next. */
const FORGET = 16;

/**
 * A budget in bytes with shares: of all callers together, of each caller within it, and of each session or connection of a
 * caller. A share may hold at most as much as is left free in the share around it. So a caller alone gets half of a budget at
 * most, and when others come, what is left is as much as the last of them could take: no caller can take all.
 */
export class Share {
  #held = 0;
  /** How many keep a reference to it: it must stay the only one of its name. */
  #users = 0;
  #parts: Map<string, Share> | null = null;
  /** To be called when something of this share is given back. */
  #waiting: (() => void)[] = [];
  /** How large the next thing that is kept here will be: as the largest of the last ones. */
  #expected = 0;

  /** In how many shares a byte that is taken here counts. */
  readonly #levels: number;

  private constructor(
    readonly bytesMax: number,
    readonly within: Share | null,
    readonly name: string,
  ) {
    this.#levels = within === null ? 1 : within.#levels + 1;
  }

  /** A whole budget. */
  static of(bytesMax: number): Share {
    return new Share(bytesMax, null, "");
  }

  get held(): number {
    return this.#held;
  }

  get expected(): number {
    return this.#expected;
  }

  /** Something of this size was kept here, or would have been. */
  learn(bytes: number): void {
    this.#expected = Math.max(bytes, this.#expected - Math.ceil((this.#expected - bytes) / FORGET));
  }

  /** How many more bytes may be taken; less than nothing if others have taken more since. */
  get room(): number {
    return Math.floor(this.#free / this.#levels);
  }

  /** What is free around this share, less what it holds. */
  get #free(): number {
    return (this.within === null ? this.bytesMax : this.within.#free) - this.#held;
  }

  /** The part of this name, for a holder that gives it back with `leave`. */
  part(name: string): Share {
    this.#parts ??= new Map();
    let part = this.#parts.get(name);
    if (part === undefined) {
      part = new Share(this.bytesMax, this, name);
      this.#parts.set(name, part);
      this.#users += 1;
    }
    part.#users += 1;
    return part;
  }

  leave(): void {
    this.#users -= 1;
    this.#tidyUp();
  }

  /** Takes so many bytes if there is room for them. */
  tryTake(bytes: number): boolean {
    if (this.room < bytes) return false;
    this.take(bytes);
    return true;
  }

  /** Takes so many bytes in any case: for what is there already, and cannot be refused any more. */
  take(bytes: number): void {
    this.#held += bytes;
    this.within?.take(bytes);
  }

  give(bytes: number): void {
    this.#held -= bytes;
    this.within?.give(bytes);
    this.#wake();
    this.#tidyUp();
  }

  /** Calls back once, when something of this share has been given back: there may be room then. */
  wait(look: () => void): void {
    this.#waiting.push(look);
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
  }

  #tidyUp(): void {
    if (this.within === null || this.#held > 0 || this.#users > 0) return;
    const { within, name } = this;
    if (within.#parts?.get(name) !== this) return;
    within.#parts.delete(name);
    within.leave();
  }
}

/** What a lease takes at least, and gives back when it has twice as much too much. */
const PIECE_BYTES = 4096;

/**
 * Bytes that change with every request. They are taken from a share in pieces that grow with what is used, so that the share,
 * and those around it, need not be counted anew each time.
 */
export class Lease {
  #used = 0;
  #taken = 0;

  constructor(readonly share: Share) {}

  get used(): number {
    return this.#used;
  }

  /** Is there room for so much more? */
  hasRoomFor(bytes: number): boolean {
    return this.#taken - this.#used >= bytes || this.share.room >= bytes;
  }

  /** Uses so many bytes more, or less. */
  use(bytes: number): void {
    this.#used += bytes;
    if (this.#used === 0) return this.#take(0);
    const piece = PIECE_BYTES + Math.floor(this.#used / 4);
    const free = this.#taken - this.#used;
    if (free < 0) this.#take(this.#used + Math.max(0, Math.min(piece, this.share.room + free)));
    else if (free > 2 * piece) this.#take(this.#used + piece);
  }

  /** Nothing is used any more. */
  clear(): void {
    this.#used = 0;
    this.#take(0);
  }

  #take(bytes: number): void {
    const more = bytes - this.#taken;
    this.#taken = bytes;
    if (more > 0) this.share.take(more);
    else this.share.give(-more);
  }
}

/** Whose share something is taken from: the caller's, and within it that of one of its sessions or connections. */
export interface Payer {
  readonly caller: string;
  readonly part: string;
}

/** The share of a payer within a budget. Give it back with `leave`. */
export function shareOf(budget: Share, { caller, part }: Payer): Share {
  const own = budget.part(caller);
  const share = own.part(part);
  own.leave(); // its part keeps it
  return share;
}
