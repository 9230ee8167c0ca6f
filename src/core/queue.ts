/** Something that stands in one queue, in the order of its ticket. */
export interface Queued<T> {
  readonly ticket: number;
  prev: T | null;
  next: T | null;
}

/** A doubly linked list in ticket order: joining at the end, leaving, and looking at either end take one step. */
export class TicketQueue<T extends Queued<T>> {
  head: T | null = null;
  tail: T | null = null;

  append(item: T): void {
    item.prev = this.tail;
    item.next = null;
    if (this.tail === null) this.head = item;
    else this.tail.next = item;
    this.tail = item;
  }

  /** Puts an item that had left back where its ticket belongs. */
  insert(item: T): void {
    let after = this.head;
    while (after !== null && after.ticket < item.ticket) after = after.next;
    if (after === null) return this.append(item);
    item.prev = after.prev;
    item.next = after;
    if (after.prev === null) this.head = item;
    else after.prev.next = item;
    after.prev = item;
  }

  remove(item: T): void {
    if (item.prev === null) this.head = item.next;
    else item.prev.next = item.next;
    if (item.next === null) this.tail = item.prev;
    else item.next.prev = item.prev;
    item.prev = null;
    item.next = null;
  }
}
