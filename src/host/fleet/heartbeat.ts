import type { Patience } from "../ports/index.js";

/**
 * Decides when a host is declared dead: it takes too long to load the program, or its event loop leaves heartbeats
 * unanswered for too long. Time is counted in looks of the head, not by the clock: while the head itself is held up, no host
 * is late.
 */
export class Heartbeat {
  /** For how long the host has been starting. */
  startingMs = 0;
  /** For how long it has not answered. */
  silentMs = 0;
  #sent = 0;
  #answered = 0;

  answered(heartbeat: number): void {
    this.#answered = heartbeat;
  }

  /** A host that is still starting. Returns why it is declared dead, if so. */
  lookAtStart({ lookMs, startMs }: Patience): Error | null {
    this.startingMs += lookMs;
    return this.startingMs < startMs ? null : new Error(`it was not ready after ${this.startingMs} ms`);
  }

  /** A host that has started: sends the next heartbeat if the last was answered. Returns why it is declared dead, if so. */
  look({ lookMs, hostMs }: Patience, send: (heartbeat: number) => void): Error | null {
    if (this.#answered !== this.#sent) {
      this.silentMs += lookMs;
      if (this.silentMs < hostMs) return null;
      return new Error(`its event loop was blocked for ${this.silentMs} ms`);
    }
    this.silentMs = 0;
    this.#sent += 1;
    send(this.#sent);
    return null;
  }
}
