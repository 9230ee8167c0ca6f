import type { Position } from "../model/door.js";

/**
 * How far a client has got in the messages of each logical node of a service. A service that was started anew hands
 * over again what it does not know to have arrived; by its position, the client knows it.
 */
export class Positions {
  readonly #last = new Map<string, Position>();
  #history: string | null = null;

  /** A service speaks: is it the same service as before? Positions of another service would mean something else. */
  begin(history: string): boolean {
    const isSame = history === this.#history;
    if (!isSame) this.#last.clear();
    this.#history = history;
    return isSame;
  }

  /** Moves on to this position. False if it is not behind the last one: the message has been there before. */
  pass(position: Position): boolean {
    const last = this.#last.get(position.node);
    if (last !== undefined && !isAfter(position, last)) return false;
    this.#last.set(position.node, position);
    return true;
  }
}

function isAfter(a: Position, b: Position): boolean {
  return a.ticket > b.ticket || (a.ticket === b.ticket && a.index > b.index);
}
