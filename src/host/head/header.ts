import type { Ticket } from "../../core/event.js";
import { pathOf } from "../../model/path.js";
import type { State } from "../../state/fields.js";
import { encodeState, type Slot } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import type { EventHeader, ToHost } from "../wire/index.js";

/** What a host must know of an event. `after` is set if it is pipelined. */
export function headerOf(
  { ticket, attempt, time, steadyMs, dependsOn, payload }: NodeEvent,
  after: Ticket | null,
): Extract<ToHost, { kind: "run" }> {
  const { slot, method, args, caller = null, origin, seen } = payload;
  const isAlone = dependsOn === 0;
  const views = seen === null ? NO_VIEWS : viewsIn(seen);
  return {
    kind: "run",
    slot,
    method,
    ticket,
    attempt,
    time,
    steadyMs,
    args,
    caller,
    origin,
    seen: views,
    isAlone,
    after,
  };
}

const NO_VIEWS: EventHeader["seen"] = [];

function viewsIn(seen: ReadonlyMap<Slot, State | null>): EventHeader["seen"] {
  return [...seen].map(([above, state]) => {
    return [pathOf(above), state === null ? null : encodeState(above, state)] as const;
  });
}
