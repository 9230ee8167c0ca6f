import type { CoreContext } from "./core-context.js";
import type { CoreEvent, ViewRequest } from "./event.js";
import type { Marks } from "./marks.js";
import { added } from "./ready.js";

/**
 * Which unappended events an event sees the state of. It is appended after them, and restarts if one of them fails that
 * had changed what it saw.
 *
 * Restarts are bounded. Let n events change a context, give it up and fail late, one after the other: if each of them
 * entered as soon as the one before had given the context up, each failure would restart all later events, and n events
 * would take n²/2 runs. So an event that was restarted `OPTIMISTIC_TRIES` times becomes *cautious*: it enters only what no
 * open event has left, and is not restarted by a failure again. A view that it took before its last restart may have seen
 * an open event: it starts after the open event is appended, and if the open event fails instead, the view is taken again before the
 * event has started. An event then runs at most `OPTIMISTIC_TRIES + 1` times because of failures, whatever the others do.
 * (The loss of a host restarts events, too: once for each host lost.)
 */
export const OPTIMISTIC_ATTEMPTS = 3;

export function isCautious<P>(event: CoreEvent<P>): boolean {
  return event.attempt > OPTIMISTIC_ATTEMPTS;
}

/** `event` has seen state of `earlier`, which may still be restarted. */
export function depend<P>(event: CoreEvent<P>, earlier: CoreEvent<P>, marks: Marks | undefined): void {
  if (marks !== undefined && earlier.status !== "finished")
    marks.hit("an event entered a context that an unfinished one had given up");
  event.dependsOn += 1;
  earlier.dependents = added(earlier.dependents, { event, attempt: event.attempt });
}

/** The event that these have seen state of is appended. Events that had only been waiting for it are added to `appendable`. */
export function free<P>(
  dependents: NonNullable<CoreEvent<P>["dependents"]>,
  appendable: CoreEvent<P>[],
): void {
  for (const { event, attempt } of dependents) {
    if (event.attempt !== attempt) continue;
    event.dependsOn -= 1;
    if (event.dependsOn === 0 && event.status === "finished") appendable.push(event);
  }
}

/** An open event whose state a cautious event would see if it entered this context now (or looked at it). */
export function openBefore<P>(
  event: CoreEvent<P>,
  context: CoreContext<P>,
  view: ViewRequest<P> | null,
): CoreEvent<P> | null {
  if (view === null) return openToEnter(event, context);
  return view.isKept ? view.openSeen() : openOnTheWayUp(event, context);
}

function openToEnter<P>(event: CoreEvent<P>, context: CoreContext<P>): CoreEvent<P> | null {
  const top = context === event.context ? null : event.context; // above its own start, it has looked when it started
  for (let at: CoreContext<P> | null = context; at !== null && at !== top; at = at.parent) {
    const writer = at === context ? at.last : at.lastBefore(event.ticket);
    if (writer !== null && writer !== event && writer.isOpen) return writer;
    if (event.mode === "read" || at.openReaders === null) continue;
    for (const reader of at.stillOpen()) if (reader !== event && reader.ticket < event.ticket) return reader;
  }
  return null;
}

function openOnTheWayUp<P>(event: CoreEvent<P>, context: CoreContext<P>): CoreEvent<P> | null {
  for (let at: CoreContext<P> | null = context; at !== null; at = at.parent) {
    const writer = at.lastBefore(event.ticket);
    if (writer?.isOpen) return writer;
  }
  return null;
}
