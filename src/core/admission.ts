import type { CoreContext } from "./core-context.js";
import { isCautious, openBefore } from "./dependencies.js";
import type { CoreEvent, EntryRequest, Ordered, ViewRequest } from "./event.js";
import type { Marks } from "./marks.js";
import type { Plant } from "./plants.js";
import { added } from "./ready.js";

/**
 * Who may run when. An event may enter a context when no earlier unfinished event can still reach it: none that
 * holds it, and none that started there or above and has not finished or given that context up (EventWave,
 * sections 3.3 and 4.3; its dummy events and ticket booths are replaced by one look at each queue between the
 * context and the root).
 *
 * Each unfinished event stands in one queue only, that of the context it started in; whatever it touches is
 * there or below. So everybody who could be in the way stands in a queue on the path to the root:
 *
 * - In the context's own queue of writers, events that have given it up come first, because a later one can
 *   enter only after an earlier one gave it up; `holding` is the first who has not.
 * - In a queue above, a writer is in the way unless it has given up this context, for which it must have
 *   entered it first. It could do so only after all earlier ones had given it up, so the walk ends at the first
 *   who has not, and at once if no event gives up anything.
 * - Readers are in the way of writers only, and give up nothing. Views are in the way of writers that enter the
 *   very context that is looked at.
 *
 * An event that was restarted again and again because of others waits, besides, for all whose state it would see and that
 * may still be restarted themselves (`dependencies.ts`).
 *
 * Events that have just got their ticket look at the events that were last in each queue at that time (`barriers`)
 * first: they would have to wait for them anyway, and so they are woken once instead of once per event.
 */
export function whoIsInTheWay<P>(
  event: CoreEvent<P>,
  context: CoreContext<P>,
  starts: boolean,
  view: ViewRequest<P> | null,
  marks: Marks | undefined,
  plant: Plant | undefined,
): CoreEvent<P> | null {
  const writes = event.mode === "write" && view === null;

  if (starts && event.barriers !== null) {
    const barrier = firstBarrier(event, marks, plant);
    if (barrier !== null) return barrier;
    event.barriers = null;
  }
  if (view !== null) {
    if (view.isKept) return openBeforeCautious(event, context, view, marks);
    if (plant === "late-views") return null;
    const { barrier } = view;
    if (barrier !== null && isInTheWay(barrier, context)) {
      marks?.hit("a view waited for a writer");
      return barrier;
    }
    view.barrier = null;
  }

  const holder = context.holding;
  if (holder !== null && holder.ticket < event.ticket && !(plant === "ignore-readers" && !writes)) {
    if (marks !== undefined) markHolder(marks, writes, view !== null, starts);
    // In its own queue a writer waits for the one before it, so each is woken once, when its turn has come.
    return (starts && writes && event.prev) || holder;
  }
  if (writes) {
    const reader = context.readers === null ? null : context.readers.head;
    if (reader !== null && reader.ticket < event.ticket && plant !== "ignore-readers") {
      marks?.hit("a writer waited for a reader");
      return reader;
    }
    const viewer = context.viewers === null ? null : context.viewers.head;
    if (viewer !== null && viewer.ticket < event.ticket) {
      marks?.hit("a writer waited for a view of its context");
      return viewer.event;
    }
  } else if (marks !== undefined && (context.readers?.head ?? event) !== event) {
    marks.hit("readers ran side by side");
  }
  for (let above = context.parent; above !== null; above = above.parent) {
    const found = inTheWayAbove(event, context, above, writes, marks);
    if (found === null) continue;
    if (plant === "ignore-ancestors" && starts) return null;
    marks?.hit(
      starts ? "an event waited for one that started above it" : "a call waited for an earlier event below",
    );
    return found;
  }
  return isCautious(event) ? openBeforeCautious(event, context, view, marks) : null;
}

function openBeforeCautious<P>(
  event: CoreEvent<P>,
  context: CoreContext<P>,
  view: ViewRequest<P> | null,
  marks: Marks | undefined,
): CoreEvent<P> | null {
  const open = openBefore(event, context, view);
  if (open !== null) marks?.hit("a cautious event waited for one that might be restarted");
  return open;
}

function inTheWayAbove<P>(
  event: CoreEvent<P>,
  context: CoreContext<P>,
  above: CoreContext<P>,
  writes: boolean,
  marks: Marks | undefined,
): CoreEvent<P> | null {
  const own = above === event.context && event.mode === "write";
  // In its own queue an event need look only at its predecessor, which could enter only after all others.
  for (let writer = own ? event.prev : above.head; writer !== null && writer.ticket < event.ticket; ) {
    if (!writer.hasReleased(context)) return writer;
    marks?.hit(
      writer.spares === null
        ? "an event passed an unfinished one above that had given up the context below"
        : "an event passed a migration above it",
    );
    if (own) break;
    writer = writer.next;
  }
  const reader = writes && above.readers !== null ? above.readers.head : null;
  return reader !== null && reader.ticket < event.ticket ? reader : null;
}

/**
 * The first earlier event that started in a context, above it or below it, and may still be started again. When there is
 * none, what the journal has of the context and of all that is below it is what the event is to see, and no other event gets in:
 * later events wait for this one, which stands in a queue above and has given up nothing there.
 */
function whoIsStillOpen<P>(
  event: CoreEvent<P>,
  context: CoreContext<P>,
  first: Ordered<P> | null,
  marks: Marks | undefined,
  plant: Plant | undefined,
): CoreEvent<P> | null {
  if (plant === "whole-early") return null;
  for (let at = first; at !== null && at.ticket < event.ticket; at = at.later) {
    if (at.status === "settled" || at.status === "committed" || at.status === "appended") continue;
    const earlier = at as CoreEvent<P>;
    if (earlier.mode === "none" || (earlier.mode === "read" && event.mode === "read")) continue;
    if (!earlier.context.isWithin(context) && !context.isWithin(earlier.context)) continue;
    marks?.hit("an event waited for all that was under way below a context");
    return earlier;
  }
  return null;
}

function firstBarrier<P>(
  event: CoreEvent<P>,
  marks: Marks | undefined,
  plant: Plant | undefined,
): CoreEvent<P> | null {
  for (const barrier of event.barriers ?? []) {
    if (!isInTheWay(barrier, event.context)) continue;
    const sameContext = barrier.context === event.context;
    if (!sameContext && plant === "ignore-ancestors") continue;
    if (plant === "ignore-readers" && (barrier.mode === "read" || event.mode === "read")) continue;
    if (marks !== undefined) {
      if (!sameContext) marks.hit("an event waited for one that started above it");
      else if (barrier.mode === "read") marks.hit("a writer waited for a reader");
      else markHolder(marks, event.mode === "write", false, true);
    }
    return barrier;
  }
  return null;
}

function isInTheWay<P>(earlier: CoreEvent<P>, context: CoreContext<P>): boolean {
  return (earlier.status === "waiting" || earlier.status === "running") && !earlier.hasReleased(context);
}

function markHolder(marks: Marks, writes: boolean, isView: boolean, starts: boolean): void {
  if (isView) marks.hit("a view waited for a writer");
  else if (!writes) marks.hit("a reader waited for a writer");
  else if (starts) marks.hit("an event waited for the one before it in its context");
  else marks.hit("a call waited for an earlier event below");
}

/**
 * The last events that were on the way at each context from the root down, when this one got its ticket. A writer
 * stands behind the last one in its own queue, and need not remember it.
 */
export function barriersOf<P>(event: CoreEvent<P>): CoreEvent<P>[] | null {
  let barriers: CoreEvent<P>[] | null = null;
  const writes = event.mode === "write";
  for (let at: CoreContext<P> | null = event.context; at !== null; at = at.parent) {
    const writer = writes && at === event.context ? null : at.tail;
    if (writer !== null) barriers = added(barriers, writer);
    const reader = writes && at.readers !== null ? at.readers.tail : null;
    if (reader !== null) barriers = added(barriers, reader);
  }
  return barriers;
}

/** The earlier event that an entry request must wait for, if any. `first` is the first of all events in ticket order. */
export function whoHinders<P>(
  { event, context, token, view, isWhole }: EntryRequest<P>,
  first: Ordered<P> | null,
  marks: Marks | undefined,
  plant: Plant | undefined,
): CoreEvent<P> | null {
  if (event.mode === "none" && view === null) return null;
  if (isWhole) return whoIsStillOpen(event, context, first, marks, plant);
  return whoIsInTheWay(event, context, token === null && view === null, view, marks, plant);
}
