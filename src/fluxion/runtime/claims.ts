/**
 * Who has a stage that was offered to a thread. It can be taken back until the thread has begun with it. That stands in
 * memory that both share: each of them knows at once, and the main loop also when the thread has ended meanwhile.
 */

const OFFERED = 0;
const BEGUN = 1;
const TAKEN_BACK = 2;

export class Claims {
  readonly #places: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#places = new Int32Array(memory);
  }

  static memoryFor(places: number): SharedArrayBuffer {
    return new SharedArrayBuffer(places * Int32Array.BYTES_PER_ELEMENT);
  }

  /** A place is offered again only when the thread has answered for it, or has ended. */
  offer(place: number): void {
    Atomics.store(this.#places, place, OFFERED);
  }

  /** For the thread: may it begin? If not, another thread or the main loop has the stage. */
  begin(place: number): boolean {
    return Atomics.compareExchange(this.#places, place, OFFERED, BEGUN) === OFFERED;
  }

  /** For the main loop: if so, the thread will not begin with it any more, and has not. */
  takeBack(place: number): boolean {
    return Atomics.compareExchange(this.#places, place, OFFERED, TAKEN_BACK) === OFFERED;
  }
}
