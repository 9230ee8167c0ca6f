const RECENT_MIN = 1024;
const RECENT_MAX = 65_536;

/**
 * Things of events, found by the events' tickets. Tickets are given out in a row and most events are over soon, so the
 * last ones stand in a ring where they are found at once; one that is still there when its place is needed again moves
 * to a map.
 */
export class ByTicket<T extends object> {
  #tickets: number[] = new Array<number>(RECENT_MIN).fill(-1);
  #items: (T | null)[] = new Array<T | null>(RECENT_MIN).fill(null);
  #recent = 0;
  readonly #old = new Map<number, T>();

  get(ticket: number): T | undefined {
    const at = this.#at(ticket);
    if (this.#tickets[at] === ticket) return this.#items[at] ?? undefined;
    return this.#old.size === 0 ? undefined : this.#old.get(ticket);
  }

  set(ticket: number, item: T): void {
    let at = this.#at(ticket);
    if (this.#tickets[at] !== ticket) {
      this.#old.delete(ticket);
      if (this.#items[at] !== null && 2 * this.#recent > this.#items.length && this.#grow())
        at = this.#at(ticket);
      const before = this.#items[at] ?? null;
      if (before === null) this.#recent += 1;
      else this.#old.set(this.#tickets[at] as number, before);
    } else if (this.#items[at] === null) this.#recent += 1;
    this.#tickets[at] = ticket;
    this.#items[at] = item;
  }

  delete(ticket: number): void {
    const at = this.#at(ticket);
    if (this.#tickets[at] !== ticket) {
      if (this.#old.size > 0) this.#old.delete(ticket);
    } else if (this.#items[at] !== null) {
      this.#items[at] = null;
      this.#recent -= 1;
    }
  }

  /** All of them, in no order. */
  *values(): Iterable<T> {
    yield* this.#old.values();
    for (const item of this.#items) if (item !== null) yield item;
  }

  #at(ticket: number): number {
    return ticket & (this.#items.length - 1);
  }

  #grow(): boolean {
    const [tickets, items] = [this.#tickets, this.#items];
    if (items.length >= RECENT_MAX) return false;
    this.#tickets = new Array<number>(2 * items.length).fill(-1);
    this.#items = new Array<T | null>(2 * items.length).fill(null);
    for (const [i, item] of items.entries()) {
      if (item === null) continue;
      const ticket = tickets[i] as number;
      this.#tickets[this.#at(ticket)] = ticket;
      this.#items[this.#at(ticket)] = item;
    }
    return true;
  }
}
