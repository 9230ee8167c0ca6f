import type { CoreEvent } from "../../core/event.js";
import type { LoadEvent } from "../../elastic/load.js";
import { pathOf, showPath } from "../../model/path.js";
import type { Slot } from "../context/index.js";
import type { EventRequest } from "../event/index.js";
import { apart } from "../ports/index.js";
import type { Meter } from "./meter.js";

/** Between two measurements, so many events are recorded at most. */
const WAITING_MAX = 200_000;

interface Recorded {
  readonly atMs: number;
  readonly slot: Slot;
  readonly reads: boolean;
}

/**
 * Records the load of a program, for `headwater policy try`. What an event costs is known when its host has been
 * measured: then it is told, with what events in its context took on average.
 */
export class LoadRecorder {
  readonly #onLoad: (event: LoadEvent) => void;
  #waiting: Recorded[] = [];
  #firstMs: number | null = null;

  constructor(onLoad: (event: LoadEvent) => void) {
    this.#onLoad = onLoad;
  }

  /** An event has been answered. */
  readonly settled = ({ steadyMs, mode, payload }: CoreEvent<EventRequest>): void => {
    if (payload.move !== null || this.#waiting.length === WAITING_MAX) return;
    this.#firstMs ??= steadyMs;
    this.#waiting.push({
      atMs: Math.max(0, steadyMs - this.#firstMs),
      slot: payload.slot,
      reads: mode === "read",
    });
  };

  /** Hosts have been measured, or, at the end, nothing more will be. */
  flush(meter: Meter, isEnd = false): void {
    if (meter.meanCostMs === 0 && !isEnd) return; // nothing is known yet
    const waiting = this.#waiting;
    this.#waiting = [];
    let thrown: { readonly error: unknown } | null = null;
    for (const { atMs, slot, reads } of waiting) {
      const costMs = meter.costMs(slot) ?? meter.meanCostMs;
      try {
        this.#onLoad({ atMs, context: stepsOf(slot), costMs, ...(reads ? { reads } : {}) });
      } catch (error) {
        thrown ??= { error };
      }
    }
    if (thrown === null) return;
    const { error } = thrown;
    apart(() => {
      throw error; // said once for all of them, which may be thousands
    });
  }
}

function stepsOf(slot: Slot): string[] {
  const root = slot.parent === null ? slot : rootOf(slot);
  return [String(root), ...pathOf(slot).map((step) => showPath([step]).slice(1))];
}

function rootOf(slot: Slot): Slot {
  return slot.parent === null ? slot : rootOf(slot.parent);
}
