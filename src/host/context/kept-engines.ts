import type { KeptEngines } from "../../journal/journal.js";
import type { State } from "../../state/fields.js";
import { OwnedStore } from "../../state/owned-store.js";
import { Version } from "../../state/tracked-version.js";
import type { Slot } from "./slot.js";

/** A state that was just loaded gets the engines that were kept up to date for it, so that they need not be built. */
export function seatEngines(slot: Slot, state: State, engines: KeptEngines): void {
  for (const [i, value] of state.entries()) {
    if (!(value instanceof Version) || !(value.store instanceof OwnedStore)) continue;
    const { store } = value;
    const engine = engines.take(slot.stored.prefix(i), store.position);
    if (engine !== null) store.seat.put(engine, value);
  }
}
