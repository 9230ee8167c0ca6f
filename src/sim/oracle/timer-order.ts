import { type Differences, nameOf } from "./findings.js";
import type { LoggedEvent } from "./log.js";

/** An event that a timer has begun, and what says when its turn is. */
interface Rung {
  readonly event: LoggedEvent;
  readonly due: number;
  readonly parent: LoggedEvent;
  readonly index: number;
}

/**
 * Timers go off in the order in which they are due; if at the same time, in the order of asking. A timer that was not
 * armed yet when another went off may come after it, though it is due earlier.
 */
export function checkTimersInOrder(events: readonly LoggedEvent[], findings: Differences): void {
  const before: Rung[] = [];
  for (const rung of rungIn(events)) {
    const { event, due, parent, index } = rung;
    const late = before.find(
      (other) => isBefore(rung, other) && parent.acknowledgedMs < other.event.steadyMs,
    );
    if (late !== undefined) {
      const place = ({ due: at, parent: by, index: i }: Rung) =>
        `due ${at}, timer ${i} of event ${by.ticket}`;
      const actual = `after ${nameOf(late.event)} (${place(late)})`;
      findings.add(
        `place of ${nameOf(event)}`,
        `${place({ event, due, parent, index })}`,
        actual,
        event.ticket,
      );
    }
    before.push(rung);
  }
}

/** In the order of their tickets. */
function* rungIn(events: readonly LoggedEvent[]): Iterable<Rung> {
  const parents = new Map<number, LoggedEvent>();
  for (const event of events) {
    if (event.later.length > 0) parents.set(event.ticket, event);
    if (event.origin.kind !== "timer") continue;
    const { parent: ticket, index } = event.origin;
    const parent = parents.get(ticket);
    const set = parent?.later[index];
    if (parent !== undefined && set?.kind === "timer")
      yield { event, due: parent.steadyMs + set.ms, parent, index };
  }
}

function isBefore(a: Rung, b: Rung): boolean {
  return (a.due - b.due || a.parent.ticket - b.parent.ticket || a.index - b.index) < 0;
}
