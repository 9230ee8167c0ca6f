import type { CoreContext } from "../../core/core-context.js";
import type { Placement } from "../../elastic/placement.js";
import type { Method } from "../../model/shape.js";
import type { Slot } from "../context/index.js";
import { EventRequest, type WaitingCaller } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import type { Hosts } from "./hosts.js";

/** Where a context is to go. */
export interface MigrationTarget {
  readonly to: HostId;
  /** Was it asked for? Else the context goes where it belongs, and contexts that were migrated by themselves stay behind. */
  readonly isRequested: boolean;
}

/** A migration that is under way: which contexts come along, and which stay behind. */
export class Migration {
  readonly to: HostId;
  readonly isRequested: boolean;
  /**
   * The contexts below that were seen to stay, with all that is below them. Events may have been let in there since, so
   * they stay, whatever rules say later.
   */
  readonly staying = new Set<Slot>();
  readonly #hosts: Hosts;

  constructor(
    readonly slot: Slot,
    { to, isRequested }: MigrationTarget,
    hosts: Hosts,
  ) {
    this.to = to;
    this.isRequested = isRequested;
    this.#hosts = hosts;
  }

  get #placement(): Placement<HostId> {
    return this.#hosts.placement;
  }

  has(slot: Slot): boolean {
    if (slot !== this.slot && !slot.isBelow(this.slot)) return false;
    for (let at: Slot | null = slot; at !== null && at !== this.slot; at = at.parent)
      if (this.#stays(at)) return false;
    return true;
  }

  #stays(slot: Slot): boolean {
    if (this.staying.has(slot)) return true;
    if (!this.#placement.staysBehind(slot, this.isRequested)) return false;
    this.staying.add(slot);
    return true;
  }

  /** Does the migration block no event there? */
  readonly spares = (context: CoreContext<EventRequest>): boolean => !this.has(context.owner as Slot);

  *contexts(slot = this.slot): Iterable<Slot> {
    yield slot;
    for (const child of slot.made()) if (!this.#stays(child)) yield* this.contexts(child);
  }

  /** Contexts that are in the memory of other hosts than their target, by host. */
  sources(): Map<HostId, Slot[]> {
    const sources = new Map<HostId, Slot[]>();
    for (const each of this.contexts()) {
      const host = this.#hosts.of(each);
      if (host === this.to || each.shape.anonymous) continue;
      const { life } = each.residence;
      if (life === 0 || life !== this.#hosts.life(host)) continue; // it is in the journal, if anywhere
      const own = sources.get(host);
      if (own === undefined) sources.set(host, [each]);
      else own.push(each);
    }
    return sources;
  }
}

/** Stands for the method of an event that migrates a context. */
const MIGRATE: Method = {
  name: "(move)",
  label: "(move)",
  body: () => {},
  isAsync: false,
  takesTime: false,
  readonly: false,
  reads: [],
};

/** The event that makes a migration. */
export function migrationRequest(move: Migration, waiting: WaitingCaller): EventRequest {
  const request = new EventRequest(move.slot, MIGRATE, [], undefined, { kind: "request" }, waiting);
  request.migration = move;
  return request;
}
