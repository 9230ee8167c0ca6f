import type { HostLink, HostReport, Running } from "../link/index.js";
import type { ContextSample } from "../load/index.js";
import type { HostId, Patience } from "../ports/index.js";
import type { HeadLine } from "../wire/index.js";
import type { HostLoad } from "./fleet.js";

/** A reader that comes once a second finds all reports, unless the head's event loop was busy for so many seconds. */
const UNREAD_MAX = 8;

/** Who waits until a host takes events. */
export interface Awaited {
  ready(): void;
  lost(why: Error): void;
}

/** One life of a host, from its start to its end, as its head sees it. */
export class HostLife {
  isReady = false;
  /** Has nobody relied on it yet? Then nothing is lost with it. */
  isNew = false;
  isLost = false;
  /** How it was doing when it last said so. */
  load: HostLoad | null = null;
  /** What it reported of its contexts since that was last taken. */
  #unread: (readonly ContextSample[])[] = [];
  /** What it was at when it was last asked, if it said so. */
  running: Running | null = null;
  /** For how long it has been starting. */
  startingMs = 0;
  /** Was it said that events wait for it to start? */
  isReportedLate = false;
  /** For how long it has not answered. */
  silentMs = 0;
  #heartbeatSent = 0;
  #heartbeatHeard = 0;

  constructor(
    /** Counts the lives of all hosts. */
    readonly life: number,
    /** Which host it is; null while it is the spare one. */
    public number: HostId | null,
    readonly link: HostLink,
    readonly line: HeadLine,
    readonly awaited: Awaited,
    /** Hears once that it is lost. */
    readonly onLost: (why: Error) => void,
  ) {}

  reported({ load, samples }: HostReport): void {
    this.load = load;
    if (this.#unread.length === UNREAD_MAX) this.#unread.shift();
    this.#unread.push(samples);
  }

  /** The samples of each report since the last call. */
  takeSamples(): readonly (readonly ContextSample[])[] {
    const unread = this.#unread;
    this.#unread = [];
    return unread;
  }

  /** It has loaded the program. */
  begins(): void {
    this.isReady = true;
    this.isNew = false;
    this.awaited.ready();
  }

  /** It has ended, or counts as ended. It may say that it is out of memory, and end after that. */
  lose(why: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.awaited.lost(why);
    this.onLost(why);
  }

  heartbeat(heard: number): void {
    this.#heartbeatHeard = heard;
  }

  /**
   * Looks whether it still starts, or answers, and asks it again if it does. Returns why it must be ended, if so. Time is
   * counted in looks, not by the clock: while the head itself does not get to look, nobody is late.
   */
  look({ lookMs, hostMs, startMs }: Patience): Error | null {
    if (!this.isReady) {
      this.startingMs += lookMs;
      return this.startingMs < startMs ? null : new Error(`it was not ready after ${this.startingMs} ms`);
    }
    if (this.#heartbeatHeard !== this.#heartbeatSent) {
      this.silentMs += lookMs;
      if (this.silentMs < hostMs) return null;
      return new Error(`its event loop was blocked for ${this.silentMs} ms`);
    }
    this.silentMs = 0;
    this.running = null;
    this.#heartbeatSent += 1;
    this.link.tell({ kind: "heartbeat", heartbeat: this.#heartbeatSent });
    return null;
  }
}
