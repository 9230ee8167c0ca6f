import { pathOf, resolvePath } from "../../model/path.js";
import { decodeState, type Slot } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import type { ToHead } from "../wire/index.js";
import type { Hosts } from "./hosts.js";
import type { Residents } from "./residents.js";

/** What an event waits for before it can start. */
interface Viewing {
  /** The contexts whose states are on their way, and who was asked for them. */
  readonly on: Map<Slot, { readonly host: HostId; readonly look: number }>;
  /** Which attempt may start when they are there. */
  dueAttempt: number;
}

/** What views need of their logical node. */
export interface ViewPorts {
  readonly hosts: Hosts;
  readonly residents: Residents;
  /** What an event has to see has come: should the run end, it must not be lost. */
  seen(event: NodeEvent): void;
  start(event: NodeEvent): void;
}

/** Looks at contexts above events that are about to start: their hosts are asked for the states. */
export class Views {
  readonly #ports: ViewPorts;
  readonly #viewing = new Map<NodeEvent, Viewing>();
  #lastLook = 0;

  constructor(ports: ViewPorts) {
    this.#ports = ports;
  }

  /** Has the state of a context looked at, for an event that will start when it is there. */
  take(event: NodeEvent, slot: Slot): void {
    const viewing = this.#viewing.get(event) ?? { on: new Map(), dueAttempt: 0 };
    this.#viewing.set(event, viewing);
    event.payload.seen?.delete(slot); // an earlier attempt may have seen what was rolled back since
    this.#look(event, slot, viewing.on);
  }

  #look(event: NodeEvent, slot: Slot, on: Viewing["on"]): void {
    const host = this.#ports.residents.bring(slot);
    this.#lastLook += 1;
    const look = this.#lastLook;
    on.set(slot, { host, look });
    const { ticket, attempt } = event;
    this.#ports.hosts.send(host, {
      kind: "view",
      node: slot.node,
      ticket,
      attempt,
      path: pathOf(slot),
      look,
    });
  }

  /** The turn of an event has come. Must it wait for what it has to see? Then it is started when that is there. */
  delay(event: NodeEvent): boolean {
    const viewing = this.#viewing.get(event);
    if (viewing === undefined) return false;
    viewing.dueAttempt = event.attempt;
    return true;
  }

  viewed({ path, state, ticket, look }: Extract<ToHead, { kind: "viewed" }>, root: Slot): void {
    for (const [event, viewing] of this.#viewing) {
      if (event.ticket !== ticket) continue;
      const slot = resolvePath(root, path);
      if (viewing.on.get(slot)?.look !== look) return; // it was taken again since
      event.payload.seen ??= new Map();
      event.payload.seen.set(slot, state === null ? null : decodeState(slot, state));
      this.#ports.seen(event);
      viewing.on.delete(slot);
      if (viewing.on.size > 0) return;
      this.#viewing.delete(event);
      if (viewing.dueAttempt === event.attempt) this.#ports.start(event);
      return;
    }
  }

  /** Asks again for what was asked for on a host that is gone. */
  lookAgain(host: HostId): void {
    for (const [event, { on }] of this.#viewing) {
      const lost = [...on].filter(([, asked]) => asked.host === host).map(([slot]) => slot);
      for (const slot of lost) this.#look(event, slot, on);
    }
  }

  /** Is an event about to see one of these contexts? */
  areOn(has: (slot: Slot) => boolean): boolean {
    for (const { on } of this.#viewing.values()) for (const slot of on.keys()) if (has(slot)) return true;
    return false;
  }

  /** Is that host to answer? */
  needs(host: HostId): boolean {
    for (const { on } of this.#viewing.values())
      for (const asked of on.values()) if (asked.host === host) return true;
    return false;
  }
}
