import type { HostLink, HostReport, RunningEventId } from "../link/index.js";
import type { ContextSample } from "../load/index.js";
import type { HostId, Patience } from "../ports/index.js";
import type { HeadLine } from "../wire/index.js";
import { Heartbeat } from "./heartbeat.js";
import type { HostLoad } from "./program-hosts.js";

/** A reader that comes once a second finds all reports, unless the head's event loop was busy for so many seconds. */
const UNREAD_MAX = 8;

/** What waits until a host takes events. */
export interface Awaited {
  ready(): void;
  lost(why: Error): void;
}

/** One life of a host, from its start to its end, as its head sees it. */
export class HostLife {
  isReady = false;
  /** Has no event relied on it yet? Then nothing is lost with it. */
  isNew = false;
  isLost = false;
  /** How it was doing when it last said so. */
  load: HostLoad | null = null;
  /** What it reported of its contexts since that was last taken. */
  #unread: (readonly ContextSample[])[] = [];
  /** What it was at when it was last asked, if it said so. */
  running: RunningEventId | null = null;
  /** Was it said that events wait for it to start? */
  isReportedLate = false;
  readonly heartbeat = new Heartbeat();

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

  /** It has ended, or is declared dead. It may say that it is out of memory, and end after that. */
  lose(why: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.awaited.lost(why);
    this.onLost(why);
  }

  /** Looks whether it still starts, or answers. Returns why it is declared dead, if so. */
  look(patience: Patience): Error | null {
    if (!this.isReady) return this.heartbeat.lookAtStart(patience);
    return this.heartbeat.look(patience, (heartbeat) => {
      this.running = null;
      this.link.tell({ kind: "heartbeat", heartbeat });
    });
  }
}
