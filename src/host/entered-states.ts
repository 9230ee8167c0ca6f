import { pathOf } from "../model/path.js";
import type { Entry } from "./entry.js";
import type { Execution } from "./execution.js";
import type { Slot } from "./slot.js";
import { encodeState } from "./stored-state.js";
import type { Path } from "./wire.js";

/** The states of the contexts above that the event has entered here. */
export function seenAbove(execution: Execution, slot: Slot): (readonly [Path, Uint8Array])[] {
  return execution
    .enteredHere()
    .filter(({ slot: above }) => slot.isBelow(above))
    .flatMap(withState);
}

/** Nothing, if there are no contexts below that could look at it. */
export function withState(entry: Entry): (readonly [Path, Uint8Array])[] {
  if (entry.slot.shape.slots.length === 0) return [];
  try {
    return [[pathOf(entry.slot), encodeState(entry.slot, entry.current())]];
  } catch {
    return []; // what is in it at the moment cannot be stored; the event fails for that when its method ends
  }
}
