import type { Events } from "./events.js";

/** What a query gives is handed on row by row. */
export type Emit = (row: readonly (number | string | null)[]) => void;

export interface NexmarkQuery {
  readonly sql: string;
  /** Its results are those of windows, which are complete at the watermark. */
  readonly isWindowed?: boolean;
  /** The same as one would write it by hand over row objects. It is the oracle of the engine and what it is measured against. */
  readonly byHand: (events: Events, emit: Emit) => void;
}

export const SECOND = 1000;
export const DAY = 86_400 * SECOND;

export function floor(time: number, size: number): number {
  return Math.floor(time / size) * size;
}

/** The value under a key of a Map, made on first use. */
export function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
