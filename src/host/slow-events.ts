import { HeadwaterError } from "../errors.js";
import type { ByTicket } from "./by-ticket.js";
import type { Patience } from "./patience.js";
import type { Hosts } from "./remote.js";
import type { RemoteRun } from "./remote-run.js";
import type { EventRequest } from "./request.js";

/** Events that take too long on their hosts: reported once, and given up if they may not take so long. */
export class SlowEvents {
  /** Counts the time between looks. */
  clockMs = 0;
  readonly #reported = new WeakSet<EventRequest>();

  constructor(
    /** Tries that have begun and not ended. */
    readonly runs: ByTicket<RemoteRun>,
    readonly hosts: Hosts,
    readonly warn: (warning: HeadwaterError) => void,
  ) {}

  look({ lookMs, eventMs, eventMsMax }: Patience, isSilent: (host: number) => boolean): void {
    this.clockMs += lookMs;
    for (const run of this.runs.values()) {
      const ms = this.clockMs - run.beganMs;
      if (ms < Math.min(eventMs, eventMsMax ?? eventMs)) continue;
      const [host] = run.hosts;
      if (run.isDead || run.behind !== null || host === undefined || run.hosts.some(isSilent)) continue;
      if (ms >= eventMs) this.#report(run, `has been running for ${ms} ms on host ${host}, and waits there.`);
      if (eventMsMax === null || ms < eventMsMax || run.isAbandoned) continue;
      run.isAbandoned = true;
      this.hosts.send(host, { kind: "abandon", ...run.try, ms });
    }
  }

  /** An event keeps the event loop of its host from going round. */
  blocks(ticket: number, host: number, ms: number): void {
    const run = this.runs.get(ticket);
    const what = `has kept host ${host} from doing anything else for ${ms} ms.`;
    if (run !== undefined) this.#report(run, what);
  }

  #report({ event: { payload } }: RemoteRun, what: string): void {
    if (this.#reported.has(payload)) return;
    this.#reported.add(payload);
    this.warn(new HeadwaterError("HW-6006", `${payload.slot}.${payload.method.name}(…) ${what}`));
  }
}
