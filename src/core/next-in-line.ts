import type { CoreContext } from "./core-context.js";

/**
 * Below which ticket writers that start in a context can only block the writer right behind them, and will
 * have seen nothing that could be taken back when that writer has: 0 if there are none. A later event may join any queue,
 * but with a higher ticket, so this stays true.
 */
export function clearUpTo<P>(context: CoreContext<P>): number {
  let clear = Number.POSITIVE_INFINITY;
  if (context.openReaders !== null) return 0;
  if (context.readers?.head) clear = context.readers.head.ticket;
  if (context.viewers?.head) clear = Math.min(clear, context.viewers.head.ticket);
  for (let above = context.parent; above !== null; above = above.parent) {
    if (above.last !== null || above.openReaders !== null) return 0;
    if (above.head !== null) clear = Math.min(clear, above.head.ticket);
    if (above.readers?.head) clear = Math.min(clear, above.readers.head.ticket);
  }
  return clear;
}
