import type { Slot } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import type { Scheduler } from "../runner/index.js";
import type { Hosts } from "./hosts.js";

/** Keeps events away from a host that is in quarantine, until they may run there. */
export class Admission {
  constructor(
    readonly scheduler: Scheduler,
    readonly hosts: Hosts,
  ) {}

  /** Has the host of that context suspects that others must leave alone? Then `again` is called later. */
  holds(event: NodeEvent, slot: Slot, again: () => void): boolean {
    const { quarantine } = this.hosts;
    if (!quarantine.isActive) return false;
    const { attempt } = event;
    return !quarantine.admits(this.hosts.of(slot), event, () => {
      if (event.attempt === attempt && event.status === "running" && this.scheduler.halted === null) again();
    });
  }
}
