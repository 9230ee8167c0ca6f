import type { CoreEvent } from "../core/event.js";
import type { EventRequest } from "./request.js";
import type { Slot } from "./slot.js";
import { decodeState } from "./stored-state.js";
import type { ToHead } from "./wire.js";

type Event = CoreEvent<EventRequest>;

/** What an event waits for before it can start. */
interface Viewing {
  /** The contexts whose states are on their way, and who was asked for them. */
  readonly on: Map<Slot, { readonly host: number; readonly look: number }>;
  /** Which try may start when they are there. */
  dueAttempt: number;
}

export interface ViewPorts {
  /** Asks the host of a context for its state, and says which host that is. */
  ask(event: Event, slot: Slot, look: number): number;
  /** The event may start. */
  ready(event: Event): void;
}

/** The states of declared ancestors, fetched from their hosts for events that start when they are there. */
export class Views {
  readonly #ports: ViewPorts;
  readonly #viewing = new Map<Event, Viewing>();
  #lastLook = 0;

  constructor(ports: ViewPorts) {
    this.#ports = ports;
  }

  /** Has the state of a context looked at. */
  take(event: Event, slot: Slot): void {
    const viewing = this.#viewing.get(event) ?? { on: new Map(), dueAttempt: 0 };
    this.#viewing.set(event, viewing);
    this.#look(event, slot, viewing);
  }

  #look(event: Event, slot: Slot, { on }: Viewing): void {
    this.#lastLook += 1;
    const look = this.#lastLook;
    on.set(slot, { host: this.#ports.ask(event, slot, look), look });
  }

  /** Must the present try at an event wait for a state? Then it starts when that is there. */
  isWaiting(event: Event): boolean {
    const viewing = this.#viewing.get(event);
    if (viewing === undefined) return false;
    viewing.dueAttempt = event.attempt;
    return true;
  }

  isAsking(host: number): boolean {
    for (const { on } of this.#viewing.values())
      for (const asked of on.values()) if (asked.host === host) return true;
    return false;
  }

  /** Asks again for what was asked for on a host that is gone. */
  hostLost(host: number): void {
    for (const [event, viewing] of this.#viewing) {
      const lost = [...viewing.on].filter(([, asked]) => asked.host === host);
      for (const [slot] of lost) this.#look(event, slot, viewing);
    }
  }

  /** The state of a context has arrived. */
  seen({ state, ticket, look }: Extract<ToHead, { kind: "viewed" }>, slot: Slot): void {
    for (const [event, viewing] of this.#viewing) {
      if (event.ticket !== ticket) continue;
      if (viewing.on.get(slot)?.look !== look) return; // it was taken again since
      event.payload.seen ??= new Map();
      event.payload.seen.set(slot, state === null ? null : decodeState(slot, state));
      viewing.on.delete(slot);
      if (viewing.on.size > 0) return;
      this.#viewing.delete(event);
      if (viewing.dueAttempt === event.attempt) this.#ports.ready(event);
      return;
    }
  }
}
