import type { Marks } from "../../core/marks.js";
import { largest } from "../wire/index.js";

/**
 * A piece that takes longer there and back holds up events, or is held up by them: the next one is half as large. Twice as much may
 * go where a piece took less than half as long.
 */
const TRIP_MS = 2;
/** After a slow trip a host has as long for events alone, but not longer than this. */
const REST_MS_MAX = 30;

export interface PacePorts {
  now(): number;
  /** Calls back when that time has come. */
  at(time: number, task: () => void): void;
  /** How large pieces are where there is no room. */
  readonly pieceBytes: number;
  readonly marks: Marks | undefined;
}

/** What is copied to the host, if it is still wanted. */
interface Turn {
  readonly isVoid: boolean;
}

/**
 * How fast contexts are copied to a host. One piece at a time is on its way there, from its source and through the head, and waits for
 * its turn in all three as events do. So the time of its trip says how much room there is: where hosts have nothing else to do, pieces
 * get large and follow each other at once; where events wait, pieces get small and one of them goes for each round of events.
 */
export class CopyPace {
  readonly #ports: PacePorts;
  readonly #waiting = new Map<Turn, () => void>();
  #current: Turn | null = null;
  #beganAt = 0;
  #isResting = false;
  #isStopped = false;
  #bytes: number;

  constructor(ports: PacePorts) {
    this.#ports = ports;
    this.#bytes = ports.pieceBytes;
  }

  /** How large the next piece may be. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Calls back when this copy may send a piece. */
  wait(copy: Turn, begin: () => void): void {
    if (this.#isStopped) return;
    this.#waiting.set(copy, begin);
    this.#next();
  }

  /** The piece of this copy is there. */
  arrived(copy: Turn, bytes: number): void {
    if (this.#current !== copy) return;
    this.#current = null;
    const tripMs = this.#ports.now() - this.#beganAt;
    if (tripMs > TRIP_MS) this.#bytes = Math.max(this.#ports.pieceBytes, this.#bytes / 2);
    else if (tripMs < TRIP_MS / 2 && bytes > this.#bytes / 2)
      this.#bytes = Math.min(largest(this.#ports.pieceBytes), this.#bytes * 2);
    if (tripMs <= 2 * TRIP_MS) return this.#next();
    this.#isResting = true;
    this.#ports.at(this.#ports.now() + Math.min(tripMs, REST_MS_MAX), () => {
      this.#isResting = false;
      this.#next();
    });
  }

  /** This copy sends nothing more. */
  leave(copy: Turn): void {
    this.#waiting.delete(copy);
    if (this.#current !== copy) return;
    this.#current = null;
    this.#next();
  }

  /** Nothing goes there any more. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
  }

  #next(): void {
    while (!this.#isStopped && this.#current === null && !this.#isResting) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [copy, begin] = next;
      this.#waiting.delete(copy);
      if (copy.isVoid) {
        this.#ports.marks?.hit("a copy was not wanted any more when its turn came");
        continue;
      }
      this.#current = copy;
      this.#beganAt = this.#ports.now();
      begin();
    }
  }
}
