import type { Core } from "../core/core.js";
import type { CoreEvent } from "../core/event.js";
import { pathOf, resolvePath } from "../model/path.js";
import type { Hosts } from "./remote.js";
import type { EventRequest } from "./request.js";
import type { Slot } from "./slot.js";
import type { Given } from "./wire.js";

type Event = CoreEvent<EventRequest>;

/** Where a context is to go. */
export interface Move {
  readonly to: number;
}

interface Asked {
  readonly event: Event;
  readonly move: Move;
  /** How many hosts are still to answer. */
  left: number;
  readonly given: [...Given][number][];
}

/**
 * Moves contexts from host to host, with all that is below them. A move is an event with a ticket: when its turn has
 * come nobody later gets in, and when nobody earlier can be undone any more, the states go.
 */
export class Moves {
  readonly #core: Core<EventRequest>;
  readonly #hosts: Hosts;
  readonly #isDurable: boolean;
  readonly #done: (event: Event) => void;
  /** Those that wait for earlier events. */
  readonly #waiting = new Map<Event, { readonly move: Move; readonly attempt: number }>();
  /** Those that wait for states, by the number under which they were asked for. */
  readonly #asked = new Map<number, Asked>();
  #lastAsk = 0;

  constructor(core: Core<EventRequest>, hosts: Hosts, isDurable: boolean, done: (event: Event) => void) {
    this.#core = core;
    this.#hosts = hosts;
    this.#isDurable = isDurable;
    this.#done = done;
  }

  begin(event: Event, move: Move): void {
    this.#waiting.set(event, { move, attempt: event.attempt });
  }

  goOn(): void {
    for (const [event, { move, attempt }] of this.#waiting) {
      const isCurrent = event.attempt === attempt; // else its turn comes again
      if (isCurrent && this.#mustWait(event)) continue;
      this.#waiting.delete(event);
      if (isCurrent) this.#fetch(event, move);
    }
  }

  /** Is there an earlier event in these contexts that may still be undone or started again? */
  #mustWait({ ticket, dependsOn, payload: { slot } }: Event): boolean {
    if (dependsOn > 0) return true;
    for (const earlier of this.#core.unsettled()) {
      if (earlier.ticket >= ticket) return false;
      if (!earlier.isOpen) continue;
      const { slot: start, execution } = earlier.payload;
      if (isIn(slot, start)) return true;
      for (const entered of execution?.touched() ?? []) if (isIn(slot, entered)) return true;
    }
    return false;
  }

  #fetch(event: Event, move: Move): void {
    const { slot } = event.payload;
    const { node } = slot;
    this.#lastAsk += 1;
    const hosts = new Set([...subtree(slot)].map((each) => this.#hosts.of(each)));
    for (const host of hosts) {
      this.#hosts.send(host, { kind: "give", node, path: pathOf(slot), ask: this.#lastAsk });
    }
    if (this.#isDurable)
      this.#moved(event, move, []); // what is in the journal is loaded from there
    else this.#asked.set(this.#lastAsk, { event, move, left: hosts.size, given: [] });
  }

  given(ask: number, given: Given): void {
    const asked = this.#asked.get(ask);
    if (asked === undefined) return;
    asked.given.push(...given);
    asked.left -= 1;
    if (asked.left > 0) return;
    this.#asked.delete(ask);
    this.#moved(asked.event, asked.move, asked.given);
  }

  #moved(event: Event, { to }: Move, given: Given): void {
    const { slot } = event.payload;
    this.#hosts.place(slot, to);
    for (const each of subtree(slot)) each.residence = 0;
    for (const [path, writes] of given) {
      const each = resolvePath(rootOf(slot), path);
      each.residence = this.#hosts.life(to);
      this.#hosts.send(to, { kind: "take", node: slot.node, path, writes });
    }
    this.#done(event);
  }
}

function isIn(top: Slot, slot: Slot): boolean {
  return slot === top || slot.isBelow(top);
}

function* subtree(slot: Slot): Iterable<Slot> {
  yield slot;
  for (const child of slot.made()) yield* subtree(child);
}

function rootOf(slot: Slot): Slot {
  return slot.parent === null ? slot : rootOf(slot.parent);
}
