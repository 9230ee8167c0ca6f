import type { CoreEvent, EntryRequest, ViewRequest } from "./event.js";
import type { Ready, Send } from "./ready.js";

/** What the caller of a core does for it (README.md). */
export interface Duties<P> {
  /** Events that got a ticket by themselves: note them, if they are to survive a crash. */
  ticketed(event: CoreEvent<P>): void;
  /**
   * Write the records of these events, `along` with the first, to the journal, in this order; call `journaled` with the first
   * when the journal has them. From now on the journal gives out what they wrote. Null if there is nothing to write.
   */
  append(first: CoreEvent<P> | null): void;
  /** Hold on to the present state of the view's context, for its event. */
  see(view: ViewRequest<P>): void;
  /** Run the start or the call, unless `ofAttempt` is not the event's `attempt` any more. */
  enter(entry: EntryRequest<P>): void;
  /** Answer the caller of the event, and arm and disarm its timers. */
  settle(event: CoreEvent<P>): void;
  /** Pass the message on; those to one receiver in this order. */
  send(send: Send): void;
}

/** Does what the core wants done, in the only order that is right. */
export function carryOut<P>(ready: Ready<P>, duties: Duties<P>): void {
  for (const event of ready.ticketed) duties.ticketed(event);
  duties.append(ready.append); // before anybody enters: its context may have to be loaded from the journal
  for (const view of ready.views) duties.see(view); // before anybody enters: who does may change what is to be seen
  for (let entry = ready.nextToEnter(); entry !== null; entry = ready.nextToEnter()) duties.enter(entry);
  for (let event = ready.nextSettled(); event !== null; event = ready.nextSettled()) duties.settle(event);
  for (const send of ready.send) duties.send(send);
}
