import type { Journal } from "../../journal/journal.js";
import type { State } from "../../state/fields.js";
import { OwnedStore } from "../../state/owned-store.js";
import { Version } from "../../state/tracked-version.js";
import type { Slot } from "./slot.js";
import { loadState } from "./stored-state.js";

/** What the journal has of a context, with the engines that were kept up to date for it: they need not be built. */
export function loadSeated(journal: Journal, slot: Slot): State | null {
  const state = loadState(journal, slot);
  const { engines } = journal;
  if (state === null || engines === undefined) return state;
  for (const [i, value] of state.entries()) {
    if (!(value instanceof Version) || !(value.store instanceof OwnedStore)) continue;
    const { store } = value;
    const engine = engines.take(slot.stored.prefix(i), store.position);
    if (engine !== null) store.seat.put(engine, value);
  }
  return state;
}
