import type { HeadwaterError } from "../../errors.js";
import type { KeyTable } from "../../journal/journal.js";
import { compareKeys } from "../../journal/keys.js";
import { checkCount, checkHeld, inOrder, type Listed, type Page, textOf } from "../../model/below.js";
import type { Key } from "../../model/key.js";
import { type Path, pathOf } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import { type Slot, storedChildren, storedLong, storedWithin } from "../context/index.js";
import type { NodeEvent } from "../event/index.js";
import { type Frame, LIST, NO_CALL } from "../event/index.js";
import type { Limits } from "../ports/index.js";

/**
 * Which contexts there are below one, as the head knows it when no earlier event in them can be started again: what the
 * journal has or, without one, what events have left in memory. What the event itself has made, deleted or given up is as the
 * event left it: later events may have gone on from there.
 */
export class ContextsBelow {
  constructor(
    readonly journal: KeyTable | null,
    /** What exists for the event (true) or does not (false), whatever the journal or the memory says. */
    readonly own: ReadonlyMap<Slot, boolean>,
  ) {}

  /** A page of the children of a context. */
  page(slot: Slot, [field, behind, limit]: Listed): Page<Key> {
    const found = new Map<string, Key>();
    const add = (child: Slot | null) => {
      const text = child?.key === undefined ? "" : textOf(child.key);
      if (child?.key === undefined || (behind !== "" && compareKeys(text, behind) <= 0)) return;
      if (!found.has(text) && this.#isThere(child)) found.set(text, child.key);
    };
    for (const child of this.#children(slot, field, behind)) {
      if (found.size > limit) break;
      add(child);
    }
    const others = this.journal === null ? [] : storedLong(this.journal, slot);
    for (const each of [...others, ...this.own.keys()]) add(childAbove(each, slot, field));
    const texts = [...found.keys()].sort(compareKeys);
    const keys = texts.slice(0, limit).map((text) => found.get(text) as Key);
    return { keys, next: texts.length > limit ? keys.at(-1) : undefined };
  }

  /** In the order of their texts where they come from a journal, else in any. */
  *#children(slot: Slot, field: string, behind: string): Iterable<Slot> {
    const at = slot.shape.slots.find((each) => each.field === field);
    if (at === undefined) return;
    if (this.journal === null) {
      const children = [...slot.made()].filter((child) => child.slot === at && child.key !== undefined);
      yield* children.sort((a, b) => compareKeys(textOf(a.key as Key), textOf(b.key as Key)));
      return;
    }
    for (const key of storedChildren(this.journal, slot, field, behind)) yield slot.child(at, key);
  }

  /** Is it there, or anything below it? */
  #isThere(slot: Slot): boolean {
    for (const _ of this.#within(slot)) return true;
    return false;
  }

  /** The contexts at and below one that are there. */
  *#within(slot: Slot): Iterable<Slot> {
    const base = this.journal === null ? madeWithin(slot) : storedWithin(this.journal, slot);
    for (const each of base) if (this.own.get(each) !== false) yield each;
    for (const [each, isMade] of this.own) if (isMade && (each === slot || each.isBelow(slot))) yield each;
  }

  /**
   * The paths of the contexts below one that are to be deleted with it. Throws if the event does not hold them all, or if
   * there are too many.
   */
  deleted(slot: Slot, givenUp: readonly Slot[], max: number): Path[] {
    checkHeld(slot, givenUp);
    const all = new Set<Slot>();
    for (const each of this.#within(slot)) {
      all.add(each);
      checkCount(slot, all.size, max);
    }
    all.delete(slot);
    return inOrder(all).map(pathOf);
  }
}

function* madeWithin(slot: Slot): Iterable<Slot> {
  if (slot.isMade) yield slot;
  for (const child of slot.made()) yield* madeWithin(child);
}

/** The child of `slot` in this field that a context is, or is below of. */
function childAbove(each: Slot, slot: Slot, field: string): Slot | null {
  if (!each.isBelow(slot)) return null;
  let at = each;
  while (at.parent !== null && at.parent !== slot) at = at.parent;
  return at.slot?.field === field ? at : null;
}

/** What comes of a call that is about a context and all that is below it, now that it may go ahead. */
export type Admitted =
  | { readonly page: Page<Key> }
  | { readonly paths: Path[] }
  | { readonly refusal: HeadwaterError };

export function admitted(
  { slot, method, args }: { readonly slot: Slot; readonly method: Method; readonly args: readonly unknown[] },
  event: NodeEvent,
  whole: ContextsBelow,
  { deletes }: Limits,
): Admitted {
  try {
    if (method === LIST) event.payload.waiting?.lists?.(slot);
    if (method === LIST) return { page: whole.page(slot, args as unknown as Listed) };
    const givenUp = event.releasedWithin(slot.coreContext).map(({ owner }) => owner as Slot);
    return { paths: whole.deleted(slot, givenUp, deletes) };
  } catch (error) {
    return { refusal: error as HeadwaterError };
  }
}

/** Lets a call go ahead where all events run on one host. */
export function letIn(frame: Frame, journal: KeyTable | null): void {
  if (!frame.isWhole) return frame.run();
  if (frame.execution.isDead) return;
  const { event, node } = frame.execution;
  const own = frame.execution.existing().map(({ slot, exists }) => [slot, exists] as const);
  const whole = new ContextsBelow(journal, new Map(own));
  const found = admitted(frame, event as NodeEvent, whole, node.limits);
  if ("refusal" in found) return frame.refuse(found.refusal);
  if ("page" in found)
    return frame.returned({ call: NO_CALL, ok: true, value: found.page, doom: null, effects: [] });
  frame.args.push(found.paths);
  frame.run();
}
