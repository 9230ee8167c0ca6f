import type { Journal, Write } from "../../journal/journal.js";
import { askedAt, resolvePath } from "../../model/path.js";
import { decode, encode } from "../../state/codec.js";
import { type Slot, segment, timersPrefix, writtenEntry } from "../context/index.js";
import { timerKey } from "../event/index.js";
import { type StoredEvent, ticketedTimerKey } from "./stored-event.js";

/** A timer as earlier versions kept it, under its name: `time` is when it is due or, if it has gone off, its ticket's. */
type OlderTimer = Omit<StoredEvent, "origin"> & { readonly origin: { readonly id: string } };

/**
 * The writes that turn the timers of a logical node, as earlier versions kept them (`t/NODE/TIMER`, and a list of names in
 * the main value of a context), into those of today. That list stays until its context is written the next time; from now
 * on it says only that there are timers.
 */
export function olderTimerWrites(journal: Journal, root: Slot): Write[] {
  const { node } = root;
  const writes: Write[] = [];
  const counts = new Map<Slot, number>();
  for (const [key, bytes] of journal.range(keysOfOlderTimers(node))) {
    const older = decode(bytes) as OlderTimer;
    const { id } = older.origin;
    const origin = { kind: "timer", id, due: Math.ceil(older.time) } as const;
    const stored = encode({ ...older, origin } satisfies StoredEvent);
    const slot = resolvePath(root, older.path);
    const sequence = (counts.get(slot) ?? 0) + 1;
    counts.set(slot, sequence);
    const entry = { key: askedAt(node, id), sequence, value: origin.due };
    writes.push({ key, value: null }, { key: timerKey(node, id, origin.due), value: stored });
    writes.push(writtenEntry("map", timersPrefix(slot.stored.name), entry));
    if (older.ticket > 0) writes.push({ key: ticketedTimerKey(node, origin), value: stored });
  }
  return writes;
}

export function keysOfOlderTimers(node: string): string {
  return `t/${segment(node)}/`;
}
