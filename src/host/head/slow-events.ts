import type { Ticket } from "../../core/event.js";
import type { HeadwaterError } from "../../errors.js";
import { type ByTicket, type EventRequest, SlowReports } from "../event/index.js";
import type { HostId, Patience } from "../ports/index.js";
import type { Culprit } from "./culprit.js";
import type { Hosts } from "./hosts.js";
import type { RemoteRun } from "./remote-run.js";

/**
 * The hosts on which nothing can run at the moment: they are starting, or something keeps their event loops from going
 * round.
 */
type Unable = ReadonlyMap<HostId, Culprit>;

/** Some events: how many, and what one of them is called. */
export interface Some {
  readonly count: number;
  readonly one: string | null;
}

/** Events that take too long on their hosts: reported once, and given up if they may not take so long. */
export class SlowEvents {
  /** Counts the time between looks. */
  clockMs = 0;
  readonly #reported = new WeakSet<EventRequest>();
  /** Of which it was said that they wait for their host. */
  readonly #waiting = new WeakSet<EventRequest>();
  readonly #reports: SlowReports;

  constructor(
    /** Tries that have begun and not ended. */
    readonly runs: ByTicket<RemoteRun>,
    readonly hosts: Hosts,
    warn: (warning: HeadwaterError) => void,
  ) {
    this.#reports = new SlowReports(warn);
  }

  /** Only the time counts in which an event can run. */
  look({ lookMs, eventMs, eventMsMax }: Patience, unable: Unable): void {
    this.clockMs += lookMs;
    for (const run of this.runs.values()) {
      if (unable.size > 0 && run.hosts.some((each) => unable.has(each))) {
        if (!run.hosts.some((each) => isAtWork(unable.get(each), run))) run.beganMs += lookMs;
        continue;
      }
      const ms = this.clockMs - run.beganMs;
      if (ms < Math.min(eventMs, eventMsMax ?? eventMs)) continue;
      const [host] = run.hosts;
      if (run.isDead || run.behind !== null || host === undefined) continue;
      if (ms >= eventMs) this.#report(run, `has been running for ${ms} ms on host ${host}, and waits there.`);
      if (eventMsMax === null || ms < eventMsMax || run.isAbandoned) continue;
      run.isAbandoned = true;
      this.hosts.send(host, { kind: "abandon", ...run.attemptId, ms });
    }
    this.#reports.end();
  }

  /** What an event is called that is under way. */
  nameOf(ticket: Ticket): string | null {
    const run = this.runs.get(ticket);
    return run === undefined ? null : nameOf(run);
  }

  /** The events that are under way on a host. */
  on(host: HostId): Some {
    return this.#some(({ hosts, behind }) => behind === null && hosts.includes(host));
  }

  /** The events that wait for a host to start, and of which nothing was said yet. */
  waitingFor(host: HostId): Some {
    const isNews = ({ event: { payload } }: RemoteRun) => {
      if (this.#reported.has(payload) || this.#waiting.has(payload)) return false;
      this.#waiting.add(payload);
      return true;
    };
    return this.#some((run) => run.hosts.includes(host) && isNews(run));
  }

  #some(which: (run: RemoteRun) => boolean): Some {
    let count = 0;
    let one: string | null = null;
    for (const run of this.runs.values()) {
      if (run.isDead || !which(run)) continue;
      count += 1;
      one ??= nameOf(run);
    }
    return { count, one };
  }

  /** An event keeps the event loop of its host from going round. */
  blocks(ticket: Ticket, host: HostId, ms: number): void {
    const run = this.runs.get(ticket);
    const what = `has kept host ${host} from doing anything else for ${ms} ms.`;
    if (run !== undefined) this.#report(run, what);
  }

  #report(run: RemoteRun, what: string): void {
    const { payload } = run.event;
    if (this.#reported.has(payload)) return;
    this.#reported.add(payload);
    this.#reports.report(() => nameOf(run), what);
  }
}

/** Does the event keep that host from answering? */
function isAtWork(culprit: Culprit | undefined, { event }: RemoteRun): boolean {
  return culprit?.kind === "event" && culprit.ticket === event.ticket;
}

function nameOf({ event: { payload } }: RemoteRun): string {
  return `${payload.slot}.${payload.method.name}(…)`;
}
