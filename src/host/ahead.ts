import type { CoreEvent } from "../core/event.js";
import { clearUpTo } from "../core/next-in-line.js";
import type { Hosts } from "./remote.js";
import { RemoteRun } from "./remote-run.js";
import type { EventRequest } from "./request.js";

type Event = CoreEvent<EventRequest>;

/** So many of those that wait behind an event in its context go to its host along with it. */
const AHEAD_MAX = 16;

/**
 * Events sent ahead: while an event runs, those that wait for nobody but it, in the same context, go to the host that it
 * runs on. The host starts the next one by itself when the one before is over: when nothing of that can be taken back.
 * Otherwise, it waits until the head says so.
 */
export class Ahead {
  constructor(readonly hosts: Hosts) {}

  /** The present try at an event, if it was sent ahead and its turn had not come. */
  sent(event: Event): RemoteRun | null {
    const run = event.payload.execution as RemoteRun | null;
    return run !== null && run.behind !== null && run.attempt === event.attempt && !run.isUndone ? run : null;
  }

  /** New tries at those that can be sent behind this one. */
  after(event: Event, run: RemoteRun, host: number): RemoteRun[] {
    const clear = clearUpTo(event.place);
    const made: RemoteRun[] = [];
    let behind = run;
    for (let next = event.next, n = 0; next !== null && n < AHEAD_MAX; next = next.next, n++) {
      const { payload } = next;
      const mustStay = payload.move !== null || payload.hostsLost > 0 || next.views !== null;
      if (next.ticket >= clear || next.status !== "waiting" || mustStay) break;
      let ahead = this.sent(next);
      if (ahead === null) {
        ahead = new RemoteRun(next, next.attempt, this.hosts, host);
        ahead.behind = behind;
        payload.execution = ahead;
        made.push(ahead);
      }
      behind = ahead;
    }
    return made;
  }
}
