import type { BodyFacts } from "./body-facts.js";
import { NONE, type ValueSet } from "./things.js";

/** Bodies that have looked at something, and are looked at again when it changes. */
export type Readers = BodyFacts[] | null;

/** What may be somewhere, and who has looked there. */
export interface ValueCell {
  value: ValueSet;
  readers: Readers;
}

export function placeOf<K>(places: Map<K, ValueCell>, key: K): ValueCell {
  const known = places.get(key);
  if (known !== undefined) return known;
  const made: ValueCell = { value: NONE, readers: null };
  places.set(key, made);
  return made;
}

export function seenBy(turn: BodyFacts | null, readers: Readers): Readers {
  if (turn === null) return readers;
  if (readers === null) return [turn];
  if (readers[readers.length - 1] !== turn) readers.push(turn);
  return readers;
}

export function isNew(readers: Readers): void {
  if (readers === null) return;
  for (const each of readers) each.stale = true;
  readers.length = 0;
}
