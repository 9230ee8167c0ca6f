import type { Watchable } from "./watches.js";

/** A message of a topic. */
export interface Published<M> {
  /** To go on behind it: `number + 1`. */
  readonly number: number;
  readonly message: M;
  /** How many messages before it are not kept any more, and were missed. */
  readonly missed: number;
}

/** What `since` of a topic answers. */
export interface PublishedPage<M> {
  readonly messages: readonly M[];
  readonly first: number;
  readonly next: number;
}

/** The messages of a topic from a number on. `open` makes what watches them from a number on. */
export async function* follow<M>(
  open: (from: number) => Watchable<PublishedPage<M>>,
  from: number,
): AsyncGenerator<Published<M>> {
  let at = from;
  for (;;) {
    for await (const { messages, first, next } of open(at).open()) {
      if (at === 0)
        at = first; // from now on: this says which number that is
      else if (messages.length === 0) continue;
      let missed = first - at;
      for (const [index, message] of messages.entries()) {
        at = first + index + 1;
        yield { number: first + index, message, missed };
        missed = 0;
      }
      at = next;
      break;
    }
  }
}
