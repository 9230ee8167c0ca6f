import type { KeyTable } from "../../journal/journal.js";
import { textOf } from "../../model/below.js";
import type { Key } from "../../model/key.js";
import { resolvePath, type Step } from "../../model/path.js";
import { decode } from "../../state/codec.js";
import type { Slot } from "./slot.js";
import { belowPrefix, childrenPrefix, longPrefix, stepsIn } from "./stored-keys.js";

/**
 * The contexts that a journal has below one. Their keys begin with its name, so that only those are looked at. The few whose
 * names are too long for that are noted by their paths, once for each context above them.
 */

/** The keys of the children in a field that the journal has, or has something below of, in order, from there on. */
export function* storedChildren(journal: KeyTable, slot: Slot, field: string, behind: string): Iterable<Key> {
  const { name, key: main } = slot.stored;
  const prefix = childrenPrefix(name, field);
  if (prefix === null) return;
  let last = behind;
  let isMore = true;
  while (isMore) {
    isMore = false;
    let passed = 0;
    // Contexts below a child have keys that begin with the child's and "."; the next sign is "/".
    for (const [key] of journal.range(prefix, last === "" ? undefined : `${prefix}${last}/`)) {
      if (last !== "" && key.startsWith(`${prefix}${last}`)) {
        passed += 1;
        isMore = passed > PASSED_MAX;
        if (isMore) break;
        continue;
      }
      const [step] = stepsIn(key.slice(main.length));
      if (step?.key === undefined) return;
      yield step.key;
      last = textOf(step.key);
    }
  }
}

/** A child with more contexts below it than this is passed over at one go. */
const PASSED_MAX = 32;

/** The contexts at a context and below it that the journal has. */
export function* storedWithin(journal: KeyTable, slot: Slot): Iterable<Slot> {
  const { name, key: main } = slot.stored;
  if (journal.get(main) !== undefined) yield slot;
  const prefix = belowPrefix(name);
  if (prefix !== null) {
    for (const [key] of journal.range(prefix)) {
      const found = below(slot, stepsIn(key.slice(main.length)));
      if (found !== null) yield found;
    }
  }
  yield* storedLong(journal, slot);
}

/** Those below whose names are too long to begin with the name of this one. */
export function* storedLong(journal: KeyTable, slot: Slot): Iterable<Slot> {
  for (const [, path] of journal.range(longPrefix(slot.stored.name))) {
    const found = below(rootOf(slot), decode(path) as Step[]);
    if (found !== null) yield found;
  }
}

/** Null for a context that the classes of the program do not have any more. */
function below(slot: Slot, path: readonly Step[]): Slot | null {
  try {
    return resolvePath(slot, path);
  } catch {
    return null;
  }
}

export function rootOf(slot: Slot): Slot {
  let root = slot;
  while (root.parent !== null) root = root.parent;
  return root;
}
