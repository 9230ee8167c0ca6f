import { Core, type CoreOptions } from "#src/core/core.js";
import type { CoreEvent, Mode } from "#src/core/event.js";
import { Place } from "#src/core/place.js";

type Event = CoreEvent<string>;

/** A core with a few contexts, driven by hand: what a host would do, one step at a time. */
export class Stage {
  readonly core: Core<string>;
  readonly root = new Place<string>(null);
  /** The events that were let in and have not been taken back since, with the contexts they entered. */
  readonly log: string[] = [];
  #names = new Map<Place<string>, string>([[this.root, "root"]]);

  constructor(options: CoreOptions = {}) {
    this.core = new Core(options);
  }

  place(name: string, parent: Place<string> = this.root): Place<string> {
    const place = new Place(parent);
    this.#names.set(place, name);
    return place;
  }

  request(
    name: string,
    place: Place<string>,
    mode: Mode = "write",
    views: readonly Place<string>[] = [],
  ): Event {
    return this.core.request({ place, mode, views, payload: name });
  }

  call(event: Event, place: Place<string>): void {
    this.core.call(event, place, place);
  }

  finish(event: Event, { failed = false, messages = [] as string[] } = {}): void {
    const outgoing = messages.map((body) => ({ to: "somebody", body }));
    this.core.finish(event, { failed, starts: [], messages: outgoing });
  }

  /** What the core wants done now, as text: `enter e1 root`, `undo e2`, `append e1`, `settle e1`, `send m1`. */
  effects({ journal = true } = {}): string[] {
    const lines: string[] = [];
    while (this.core.hasWork) {
      for (const { payload } of this.core.takeUndo()) lines.push(`undo ${payload}`);
      const ready = this.core.ready();
      for (const { event, place } of ready.views)
        lines.push(`view ${event.payload} ${this.#names.get(place)}`);
      for (let wish = ready.nextToEnter(); wish !== null; wish = ready.nextToEnter()) {
        const { event, token } = wish;
        lines.push(
          `enter ${event.payload} ${this.#names.get((token as Place<string> | null) ?? event.place)}`,
        );
      }
      for (let at = ready.append; at !== null; at = at.along) lines.push(`append ${at.payload}`);
      for (let at = ready.nextSettled(); at !== null; at = ready.nextSettled())
        lines.push(`settle ${at.payload}`);
      for (const { body } of ready.send) lines.push(`send ${String(body)}`);
      if (journal) this.core.journaled(ready.append);
    }
    return lines;
  }
}
