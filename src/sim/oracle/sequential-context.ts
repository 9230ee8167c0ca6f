import { compareKeys } from "../../journal/keys.js";
import { Address } from "../../model/address.js";
import { type Listed, type Page, textOf } from "../../model/below.js";
import { Tracked } from "../../model/collections.js";
import { Context, type ContextClass } from "../../model/context.js";
import type { TimerId } from "../../model/event.js";
import type { Key } from "../../model/key.js";
import { type ChildSlot, type Shape, shapeOf } from "../../model/shape.js";
import { same } from "../../state/same.js";
import { replaced } from "../../state/tracked-fields.js";
import { copy, isSimple } from "../../state/values.js";

/** A context at one moment: copies of the values of its fields, in the order of its shape, and its armed timers. */
export interface SequentialState {
  readonly values: readonly unknown[];
  readonly timers: readonly TimerId[];
}

export const NOTHING: SequentialState = { values: [], timers: [] };

type Fields = Record<string, unknown>;

/**
 * A context of the sequential runner: its address, its one live instance, its state when a method last ended. Where the
 * class declares a tracked collection, the instance has the plain one that it stands for.
 */
export class SequentialContext extends Address {
  readonly shape: Shape;
  #instance: Context<Key> | null = null;
  readonly #tracked = new Map<string, unknown>();
  #initial: SequentialState | null = null;
  #timers = NOTHING.timers;
  #state = NOTHING;

  constructor(
    node: string,
    parent: SequentialContext | null,
    slot: ChildSlot | null,
    key: Key | undefined,
    cls: ContextClass,
  ) {
    super(node, parent, slot, key);
    this.shape = shapeOf(cls, key);
  }

  protected override make(slot: ChildSlot, key: Key | undefined): this {
    return new SequentialContext(this.node, this, slot, key, slot.cls) as this;
  }

  get instance(): Context<Key> {
    if (this.#instance === null) {
      const instance = Context.construct(this);
      this.#replaceTracked(instance as unknown as Fields);
      this.#instance = instance;
      if (this.#initial === null)
        this.#initial = this.#state = { values: this.#fieldsOf(instance), timers: this.#timers };
      else this.#fill(this.#state);
    }
    return this.#instance;
  }

  /** Another instance for the next method. */
  renew(): void {
    this.#instance = null;
    this.#tracked.clear();
  }

  #replaceTracked(live: Fields): void {
    for (const field of this.shape.fields) {
      const made = live[field];
      if (!(made instanceof Tracked)) continue;
      live[field] = made.plain();
      this.#tracked.set(field, live[field]);
    }
  }

  /** A copy of the fields as they are now; throws HW-1006 if one of them cannot be stored. */
  now(): SequentialState {
    return { values: this.#fieldsOf(this.instance), timers: this.#timers };
  }

  /** As of the last method that ended here. It is the same object as long as no method has changed anything. */
  get state(): SequentialState {
    return this.#state;
  }

  keep(after: SequentialState): void {
    if (!same(after.timers, this.#state.timers) || this.changed(this.#state, after).length > 0)
      this.#state = after;
  }

  arm(timer: TimerId): void {
    this.#timers = [...this.#timers, timer];
  }

  /** Says whether it was armed. */
  disarm(timer: TimerId): boolean {
    const isArmed = this.#timers.includes(timer);
    if (isArmed) this.#timers = this.#timers.filter((armed) => armed !== timer);
    return isArmed;
  }

  #fieldsOf(instance: Context<Key>): readonly unknown[] {
    const live = instance as unknown as Fields;
    const { fields } = this.shape;
    const state = new Array<unknown>(fields.length);
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as string;
      const value = live[field];
      if (this.#tracked.size > 0 && this.#tracked.has(field) && value !== this.#tracked.get(field))
        throw replaced(this, field, "something else was assigned to it");
      state[i] = this.#copyOf(value, field);
    }
    return state;
  }

  #copyOf(value: unknown, field: string): unknown {
    return isSimple(value) ? value : copy(value, () => `${this}.${field}`);
  }

  putBack(state: SequentialState): void {
    this.#fill(state);
    this.#timers = state.timers;
    this.#state = state;
  }

  #fill(state: SequentialState): void {
    const live = this.instance as unknown as Fields;
    const { fields } = this.shape;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as string;
      live[field] = this.#copyOf(state.values[i], field);
      if (this.#tracked.has(field)) this.#tracked.set(field, live[field]);
    }
  }

  changed(before: SequentialState, after: SequentialState): string[] {
    return this.shape.fields.filter((_, i) => !same(after.values[i], before.values[i]));
  }

  view(state: SequentialState): object {
    const view: Fields = this.key === undefined ? {} : { key: this.key };
    for (const [i, field] of this.shape.fields.entries()) view[field] = state.values[i];
    return Object.freeze(view);
  }

  /** Has a method changed it since it was made or deleted? */
  get isMade(): boolean {
    return this.#initial !== null && this.#state !== this.#initial;
  }

  /** It and those below it that have been changed so. */
  *existing(): Iterable<SequentialContext> {
    if (this.isMade) yield this;
    for (const child of this.made()) yield* child.existing();
  }

  /** The keys of the children that exist, or have something below them that does, in the order in which they are listed. */
  page([field, behind, limit]: Listed): Page<Key> {
    const found = new Map<string, Key>();
    for (const child of this.made()) {
      const [exists] = child.existing();
      if (child.slot?.field === field && child.key !== undefined && exists)
        found.set(textOf(child.key), child.key);
    }
    const texts = [...found.keys()]
      .filter((text) => behind === "" || compareKeys(text, behind) > 0)
      .sort(compareKeys);
    const keys = texts.slice(0, limit).map((text) => found.get(text) as Key);
    return { keys, next: texts.length > limit ? keys.at(-1) : undefined };
  }

  /** As if it had never been made. Its timers, which are not armed any more, are returned. */
  reset(): readonly TimerId[] {
    const armed = [...this.#timers].sort();
    if (this.#initial !== null) this.putBack(this.#initial);
    return armed;
  }

  *changedContexts(): Iterable<SequentialContext> {
    if (this.#initial !== null && this.changed(this.#initial, this.state).length > 0) yield this;
    for (const child of this.made()) yield* child.changedContexts();
  }
}
