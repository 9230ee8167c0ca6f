import { largest } from "../wire/index.js";

/**
 * A piece that takes longer there and back holds up events, or is held up by them: the next one is half as large. Twice as much may
 * go where a piece took less than half as long.
 */
const TRIP_MS = 2;
/** After a slow trip hosts have as long for events alone, but not longer than this. */
const REST_MS_MAX = 30;

export interface PacePorts {
  now(): number;
  /** Calls back when that time has come. */
  at(time: number, task: () => void): void;
  /** How large pieces are where there is no room. */
  readonly pieceBytes: number;
}

/**
 * How fast contexts are copied. One piece of a copy at a time is on its way, from the source through the head to its goal, and waits for
 * its turn in all three as events do. So the time of its trip says how much room there is: where hosts have nothing else to do, pieces
 * get large and follow each other at once; where events or other copies wait, pieces get small, and rests come between them.
 */
export class CopyPace {
  readonly #ports: PacePorts;
  #beganAt = 0;
  #bytes: number;

  constructor(ports: PacePorts) {
    this.#ports = ports;
    this.#bytes = ports.pieceBytes;
  }

  /** How large the next piece may be. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A piece is asked for. */
  begins(): void {
    this.#beganAt = this.#ports.now();
  }

  /** The piece is there: calls back when the next one may go. */
  arrived(bytes: number, goOn: () => void): void {
    const tripMs = this.#ports.now() - this.#beganAt;
    if (tripMs > TRIP_MS) this.#bytes = Math.max(this.#ports.pieceBytes, this.#bytes / 2);
    else if (tripMs < TRIP_MS / 2 && bytes > this.#bytes / 2)
      this.#bytes = Math.min(largest(this.#ports.pieceBytes), this.#bytes * 2);
    if (tripMs <= 2 * TRIP_MS) goOn();
    else this.#ports.at(this.#ports.now() + Math.min(tripMs, REST_MS_MAX), goOn);
  }
}
