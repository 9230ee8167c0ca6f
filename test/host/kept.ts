import assert from "node:assert/strict";
import type { ContextClass } from "headwater";
import { Slot } from "#src/host/context/slot.js";
import { loadState, stateWrites } from "#src/host/context/stored-state.js";
import type { Write } from "#src/journal/journal.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { initialState, instantiate, type State, stateOf, viewOf } from "#src/state/fields.js";

export function rootOf(cls: unknown, node = "Things"): Slot {
  return new Slot(node, null, null, undefined, cls as ContextClass);
}

/** A journal with one context in it, and what was written for it. */
export class Kept {
  state: State | null;
  writes: Write[] = [];

  constructor(
    readonly slot: Slot,
    readonly journal = new MemoryJournal(),
  ) {
    this.state = loadState(journal, slot);
  }

  /** If there is none yet, that of a context which an event has changed and changed back: others leave nothing. */
  get present(): State {
    return this.state ?? [...initialState(this.slot)];
  }

  /** Runs a change as an event would, and writes it. */
  change<C>(act: (self: C) => void): readonly Write[] {
    const before = this.present;
    const instance = instantiate(this.slot, before);
    act(instance as unknown as C);
    this.write(stateOf(instance, this.slot, before, null));
    return this.writes;
  }

  write(after: State): void {
    this.writes = [];
    stateWrites(this.slot, this.state, after, this.writes);
    this.state = after;
    this.journal.append(this.writes, () => {});
  }

  /** What a later run finds, in a context of a class that may have changed. */
  reload(cls: unknown = this.slot.shape.cls): Kept {
    return new Kept(rootOf(cls, this.slot.node), this.journal);
  }

  get keys(): string[] {
    return [...this.journal.range("")].map(([key]) => key);
  }
}

export function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
}

export function shown(slot: Slot, state: State): Record<string, unknown> {
  const view = viewOf(slot, state) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(view).map(([field, value]) => {
      const collection = value as { plain?(): unknown } | null;
      return [field, typeof collection?.plain === "function" ? collection.plain() : value];
    }),
  );
}

/** Equal, and in the same order. */
export function assertSame(slot: Slot, actual: State | null, expected: State): void {
  assert.ok(actual);
  assert.deepEqual(ordered(shown(slot, actual)), ordered(shown(slot, expected)));
  assert.deepEqual(actual[slot.shape.fields.length] ?? [], expected[slot.shape.fields.length] ?? []);
}

function ordered(fields: Record<string, unknown>): unknown {
  return Object.entries(fields).map(([field, value]) => [
    field,
    value instanceof Map || value instanceof Set ? [...value] : value,
  ]);
}
