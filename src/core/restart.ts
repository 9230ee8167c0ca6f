import { isCautious } from "./dependencies.js";
import type { CoreEvent, ViewRequest } from "./event.js";
import type { Marks } from "./marks.js";

/**
 * Takes back all events that have, directly or through others, seen state of these, and `lost` ones with them, and
 * puts them back to waiting with their old tickets. None of them is in the journal yet: an event is appended only
 * after those whose state it saw. Returns them latest first, which is the order in which their changes must be undone.
 *
 * A cautious event has seen state of these only in views that it kept, and has not started: it takes them again, and is not
 * restarted.
 */
export function restart<P>(
  origins: readonly CoreEvent<P>[],
  lost: readonly CoreEvent<P>[],
  marks: Marks | undefined,
): CoreEvent<P>[] {
  const found = new Set<CoreEvent<P>>(lost);
  const toVisit = [...origins, ...lost];
  const lookAgain = new Set<CoreEvent<P>>();
  for (let event = toVisit.pop(); event !== undefined; event = toVisit.pop()) {
    for (const { event: dependent, attempt } of event.dependents ?? []) {
      if (dependent.attempt !== attempt || found.has(dependent)) continue;
      if (isCautious(dependent) && dependent.status === "waiting") {
        dependent.dependsOn -= 1;
        lookAgain.add(dependent);
        continue;
      }
      found.add(dependent);
      toVisit.push(dependent);
    }
    event.dependents = null;
  }
  const latestFirst = [...found].sort((a, b) => b.ticket - a.ticket);
  const seenFrom = new Set([...origins, ...found]);
  for (const event of latestFirst) takeBack(event, seenFrom, marks);
  for (const { views } of lookAgain) {
    for (const view of views ?? []) if (hasSeen(view, seenFrom)) takeAgain(view, marks);
  }
  if (marks !== undefined && latestFirst.length > 0) {
    marks.hit("a cascade restarted one event");
    if (latestFirst.length >= 3) marks.hit("a cascade restarted three events");
  }
  return latestFirst;
}

function takeBack<P>(
  event: CoreEvent<P>,
  seenFrom: ReadonlySet<CoreEvent<P>>,
  marks: Marks | undefined,
): void {
  const { context } = event;
  marks?.hit(
    event.status === "finished"
      ? "a finished event was restarted"
      : event.status === "running"
        ? "a running event was restarted"
        : "a waiting event was restarted",
  );
  for (const { context: entered, lastBefore } of event.enteredContexts()) {
    if (entered.last === event) entered.last = lastBefore?.isOpen ? lastBefore : null;
    if (entered.openReaders !== null)
      entered.openReaders = entered.openReaders.filter((reader) => reader !== event);
  }
  if (event.status === "finished") {
    if (event.mode === "write") context.insert(event);
    if (event.mode === "read") context.readers?.insert(event);
  }
  event.status = "waiting";
  event.attempt += 1;
  event.givenUp = null;
  event.entered = null;
  event.lastBefore = null;
  event.dependsOn = 0;
  if (event.mode === "write") {
    context.passed = null;
    while (context.holding?.givenUp?.own) context.passed = context.holding;
  }
  for (const view of event.views ?? []) renewView(view, seenFrom, marks);
}

/** A look that saw state of an event that is taken back must be taken again; any other stays as it was. */
function renewView<P>(
  view: ViewRequest<P>,
  seenFrom: ReadonlySet<CoreEvent<P>>,
  marks: Marks | undefined,
): void {
  if (!view.taken && !view.isKept) return;
  if (hasSeen(view, seenFrom)) {
    takeAgain(view, marks);
    return;
  }
  marks?.hit("a view was kept over a restart");
  view.taken = !isCautious(view.event) || view.openSeen() === null;
}

function hasSeen<P>({ seen }: ViewRequest<P>, events: ReadonlySet<CoreEvent<P>>): boolean {
  return seen?.some((event) => events.has(event)) ?? false;
}

function takeAgain<P>(view: ViewRequest<P>, marks: Marks | undefined): void {
  marks?.hit("a view was taken again after a restart");
  view.taken = false;
  view.seen = null;
  view.context.viewers?.insert(view);
}
