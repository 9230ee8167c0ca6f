import type { Journal, Write } from "../../journal/journal.js";
import { pathOf } from "../../model/path.js";
import { type Slot, storedWrites } from "../context/index.js";
import type { ToHost } from "../wire/index.js";

/** At most so much of a context goes to a host in one message, keys aside. */
const PART_BYTES = 2 ** 18;

type LoadMessage = Extract<ToHost, { kind: "load" }>;

/**
 * What the journal has of a context, in parts, for a host that is to have it. A part is read when it is asked for, so that no
 * more of a large context is in memory here than the connection takes. Meanwhile nothing changes: no event can be in a context
 * that no host has. Between two parts, nothing of the journal is held.
 */
export function* loadMessages(journal: Journal, slot: Slot): Generator<LoadMessage> {
  const [node, path] = [slot.node, pathOf(slot)];
  const take = (writes: readonly Write[], isCut: boolean, isLast: boolean): LoadMessage => {
    return { kind: "load", node, path, writes, isCut, isLast };
  };
  let after: string | null = null;
  for (;;) {
    const writes = someFrom(journal, slot, after);
    const last = writes.pop();
    if (last === undefined) break;
    after = last.key;
    if (writes.length > 0) yield take(writes, false, false);
    for (const [part, isCut] of cut(last.value)) yield take([{ key: last.key, value: part }], isCut, false);
  }
  if (after !== null) yield take([], false, true);
}

/** Some writes, of which only the last may be large. */
function someFrom(journal: Journal, slot: Slot, after: string | null): { key: string; value: Uint8Array }[] {
  const writes: { key: string; value: Uint8Array }[] = [];
  let bytes = 0;
  for (const write of storedWrites(journal, slot, after)) {
    writes.push(write);
    bytes += write.value.length;
    if (bytes >= PART_BYTES) break;
  }
  return writes;
}

function* cut(value: Uint8Array): Generator<[part: Uint8Array, isCut: boolean]> {
  let at = 0;
  for (; value.length - at > PART_BYTES; at += PART_BYTES) yield [value.subarray(at, at + PART_BYTES), true];
  yield [value.subarray(at), false];
}
