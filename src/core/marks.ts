/** Things that must have happened over a run of the simulator for its verdict to mean something. */
export const MARKS = [
  "an event waited for one that started above it",
  "an event waited for the one before it in its context",
  "a call waited for an earlier event below",
  "an event entered a context that an unfinished one had given up",
  "an event passed an unfinished one above that had given up the context below",
  "a finished event waited for one whose state it had seen",
  "a cascade restarted one event",
  "a cascade restarted three events",
  "a waiting event was restarted",
  "a running event was restarted",
  "a finished event was restarted",
  "a cautious event waited for one that might be restarted",
  "a rolled back call retracted a context that it had given up",
  "readers ran side by side",
  "a reader waited for a writer",
  "a writer waited for a reader",
  "a writer waited for a view of its context",
  "a view waited for a writer",
  "a view was kept over a restart",
  "a view was taken again after a restart",
  "a message waited for an earlier ticket",
  "a duplicate message was dropped",
  "a message that came early waited for its turn",
  "a cancelled timer had fired already",
  "an event waited for all that was under way below a context",
  "a context was deleted with others below it",
  "a deletion cancelled a timer",
  "a page of children was not the last",
  "an event failed",
  "an event restarted itself",
] as const;

/** The same for a program with a journal, whose process crashes. */
export const CRASH_MARKS = [
  "a crash ended the program",
  "the disk failed",
  "the journal had no room",
  "a crash left a torn record",
  "a commit was known to the disk alone",
  "an event kept its ticket over a crash",
  "a request was answered from the journal",
  "a client got a message again",
  "timers were left to the journal",
] as const;

/** The same on several hosts, with a journal. */
export const HOST_MARKS = [
  "a host crashed",
  "an event ended its host",
  "a request was given up that ended its hosts",
  "an event was parked",
  "a connection to a host was lost",
  "a host was added",
  "a host was drained",
  "a host was removed",
  "a rule of placement was changed",
  "a context was migrated",
  "a migration failed",
  "a migration waited for a view of its context",
  "an event passed a migration above it",
  "a migration sent only a difference",
  "a copy was thrown away",
  "a copy was not wanted any more after a rest",
  "a host forgot an event by itself",
  "a host started a pipelined event by itself",
  "a pipelined event waited for the head",
  "a host evicted a context",
] as const;

export type Mark = (typeof MARKS)[number] | (typeof CRASH_MARKS)[number] | (typeof HOST_MARKS)[number];

export class Marks {
  readonly #counts = new Map<Mark, { hits: number }>();

  hit(mark: Mark): void {
    const count = this.#counts.get(mark);
    if (count === undefined) this.#counts.set(mark, { hits: 1 });
    else count.hits += 1;
  }

  count(mark: Mark): number {
    return this.#counts.get(mark)?.hits ?? 0;
  }

  missing(expected: readonly Mark[] = MARKS): Mark[] {
    return expected.filter((mark) => !this.#counts.has(mark));
  }
}
