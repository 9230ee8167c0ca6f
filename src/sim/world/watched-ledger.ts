import type { CoreEvent } from "../../core/event.js";
import type { Plant } from "../../core/plants.js";
import type { StoredAnswer } from "../../host/deduplication/index.js";
import type { EventRequest } from "../../host/event/index.js";
import { Ledger } from "../../host/store/index.js";
import type { LoggedEvent } from "../oracle/index.js";
import type { SimJournal } from "./journal.js";
import type { Recorder } from "./recorder.js";

/** Tells the recorder which events have committed: also events that did just before a crash, unknown outside. */
export class WatchedLedger extends Ledger {
  readonly #onTheWay: { readonly group: number; readonly events: LoggedEvent[] }[] = [];

  constructor(
    override readonly journal: SimJournal,
    readonly recorder: Recorder,
    contextsInMemory: number,
    readonly plant: Plant | undefined,
  ) {
    super(journal, contextsInMemory);
  }

  /** When a name is no longer needed is not for the seed to decide, so here they are kept. */
  override readonly hold = <S>(slot: S): S => slot;

  override append(...[node, events, open, more, done]: Parameters<Ledger["append"]>): void {
    const logged = events
      .filter(({ payload }: CoreEvent<EventRequest>) => payload.migration === null)
      .map((event) => this.recorder.appended(event));
    const { groups } = this.journal;
    const kept = this.plant === "forget-tickets" ? [] : open;
    super.append(node, events, kept, more, (error) => {
      if (error === null) this.recorder.keep(this.#onTheWay.shift()?.events ?? []);
      if (this.plant !== "reply-before-sync") done(error);
    });
    if (this.plant === "reply-before-sync") done(null);
    // A journal that has failed takes no more.
    if (this.journal.groups > groups) this.#onTheWay.push({ group: this.journal.groups, events: logged });
  }

  override answerTo(request: string): StoredAnswer | null {
    return this.plant === "lose-answers" ? null : super.answerTo(request);
  }

  /** After a crash, this many groups are on the disk. Says whether events have committed by it. */
  survived(groups: number): boolean {
    const there = this.#onTheWay.filter(({ group }) => group <= groups);
    for (const { events } of there) this.recorder.keep(events);
    return there.some(({ events }) => events.length > 0);
  }
}
