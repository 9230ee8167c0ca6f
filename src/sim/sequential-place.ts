import { Address } from "../model/address.js";
import { Tracked } from "../model/collections.js";
import { Context, type ContextClass } from "../model/context.js";
import type { Key } from "../model/key.js";
import { type ChildSlot, type Shape, shapeOf } from "../model/shape.js";
import { same } from "../state/same.js";
import { replaced } from "../state/tracked-fields.js";
import { copy, isSimple } from "../state/values.js";

/** Copies of the values of a context's fields, in the order of its shape. */
export type State = readonly unknown[];

type Fields = Record<string, unknown>;

/**
 * A context of the sequential runner: its address, its one live instance, its state when a method last ended. Where the
 * class declares a tracked collection, the instance has the plain one that it stands for.
 */
export class Place extends Address {
  readonly shape: Shape;
  #instance: Context<Key> | null = null;
  readonly #tracked = new Map<string, unknown>();
  #initial: State | null = null;
  state: State = [];

  constructor(
    node: string,
    parent: Place | null,
    slot: ChildSlot | null,
    key: Key | undefined,
    cls: ContextClass,
  ) {
    super(node, parent, slot, key);
    this.shape = shapeOf(cls, key);
  }

  protected override make(slot: ChildSlot, key: Key | undefined): this {
    return new Place(this.node, this, slot, key, slot.cls) as this;
  }

  get instance(): Context<Key> {
    if (this.#instance === null) {
      const instance = Context.construct(this);
      this.#replaceTracked(instance as unknown as Fields);
      this.#instance = instance;
      if (this.#initial === null) this.#initial = this.state = this.#fieldsOf(instance);
      else this.putBack(this.state);
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
  now(): State {
    return this.#fieldsOf(this.instance);
  }

  #fieldsOf(instance: Context<Key>): State {
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

  putBack(state: State): void {
    const live = this.instance as unknown as Fields;
    const { fields } = this.shape;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as string;
      live[field] = this.#copyOf(state[i], field);
      if (this.#tracked.has(field)) this.#tracked.set(field, live[field]);
    }
    this.state = state;
  }

  changed(before: State, after: State): string[] {
    return this.shape.fields.filter((_, i) => !same(after[i], before[i]));
  }

  view(state: State): object {
    const view: Fields = this.key === undefined ? {} : { key: this.key };
    for (const [i, field] of this.shape.fields.entries()) view[field] = state[i];
    return Object.freeze(view);
  }

  *changedContexts(): Iterable<Place> {
    if (this.#initial !== null && this.changed(this.#initial, this.state).length > 0) yield this;
    for (const child of this.made()) yield* child.changedContexts();
  }
}
