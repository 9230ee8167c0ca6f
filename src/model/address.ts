import { type Key, mapKey, showKey } from "./key.js";
import type { Step } from "./path.js";
import type { ChildSlot, Shape } from "./shape.js";

/**
 * Where a context stands: a node of the tree of names. Each address exists once, so two references to the
 * same context hold the same object. Runtimes extend it with what they keep per context.
 */
export abstract class Address {
  readonly depth: number;
  /** What `pathOf` has found out. */
  path: readonly Step[] | null = null;
  #children: Map<string | number, this | WeakRef<this>>[] | null = null;

  constructor(
    readonly node: string,
    readonly parent: Address | null,
    readonly slot: ChildSlot | null,
    readonly key: Key | undefined,
  ) {
    this.depth = parent === null ? 0 : parent.depth + 1;
  }

  abstract readonly shape: Shape;
  protected abstract make(slot: ChildSlot, key: Key | undefined): this;

  child(slot: ChildSlot, key: Key | undefined): this {
    this.#children ??= [];
    let named = this.#children[slot.index];
    if (named === undefined) {
      named = new Map();
      this.#children[slot.index] = named;
    }
    const name = key === undefined ? 0 : mapKey(key);
    const held = named.get(name);
    let child = held instanceof WeakRef ? held.deref() : held;
    if (child === undefined) {
      child = this.make(slot, key);
      named.set(name, this.hold(child, named, name));
    }
    return child;
  }

  /** How a child is held on to: by default for good. */
  protected hold(
    child: this,
    _among: Map<string | number, unknown>,
    _name: string | number,
  ): this | WeakRef<this> {
    return child;
  }

  /** Changes how a child is held on to. */
  protected rehold(
    child: this,
    hold: (child: this, among: Map<string | number, unknown>, name: string | number) => this | WeakRef<this>,
  ): void {
    const named = this.#children?.[child.slot?.index ?? -1];
    const name = child.key === undefined ? 0 : mapKey(child.key);
    named?.set(name, hold(child, named, name));
  }

  /** All children that there are, in the order in which they were made. */
  *made(): Iterable<this> {
    for (const named of this.#children ?? []) {
      for (const held of named?.values() ?? []) {
        const child = held instanceof WeakRef ? held.deref() : held;
        if (child !== undefined) yield child;
      }
    }
  }

  /** Is this address strictly below `other`? */
  isBelow(other: Address): boolean {
    let at: Address | null = this;
    while (at !== null && at.depth > other.depth) at = at.parent;
    return at === other && this !== other;
  }

  /**
   * Written as the program would write it: `Game.buildings(1).hallway`. The name in front is that of its logical node, since
   * several may have the same root class; of a program with one root class it is that class's name.
   */
  toString(): string {
    if (this.parent === null || this.slot === null) return this.node;
    const key = this.key === undefined ? "" : `(${showKey(this.key)})`;
    return `${this.parent}.${this.slot.field}${key}`;
  }
}
