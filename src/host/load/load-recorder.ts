import { pathOf, showPath } from "../../model/path.js";
import type { Feed } from "../../observe/index.js";
import type { Slot } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
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
  readonly #feed: Feed;
  #waiting: Recorded[] = [];
  #firstMs: number | null = null;

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  get isWanted(): boolean {
    return this.#feed.wants("load");
  }

  /** An event has been answered. */
  readonly settled = ({ steadyMs, mode, payload }: NodeEvent): void => {
    if (!this.isWanted || payload.migration !== null || this.#waiting.length === WAITING_MAX) return;
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
    for (const { atMs, slot, reads } of waiting) {
      const costMs = meter.costMs(slot) ?? meter.meanCostMs;
      const load = { atMs, context: stepsOf(slot), costMs, ...(reads ? { reads } : {}) };
      this.#feed.note({ kind: "load", load });
    }
  }
}

function stepsOf(slot: Slot): string[] {
  const root = slot.parent === null ? slot : rootOf(slot);
  return [String(root), ...pathOf(slot).map((step) => showPath([step]).slice(1))];
}

function rootOf(slot: Slot): Slot {
  return slot.parent === null ? slot : rootOf(slot.parent);
}
