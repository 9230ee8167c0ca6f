import { Address } from "../model/address.js";
import type { ContextClass } from "../model/context.js";
import type { Key } from "../model/key.js";
import { type ChildSlot, type Shape, shapeOf } from "../model/shape.js";

/** A context as a gateway knows it: by its name only. It is held as long as a reference to it is. */
export class NamedPlace extends Address {
  override readonly shape: Shape;

  constructor(
    node: string,
    cls: ContextClass,
    parent: NamedPlace | null,
    slot: ChildSlot | null,
    key: Key | undefined,
  ) {
    super(node, parent, slot, key);
    this.shape = shapeOf(cls, key);
  }

  static root(node: string, cls: ContextClass): NamedPlace {
    return new NamedPlace(node, cls, null, null, undefined);
  }

  protected override make(slot: ChildSlot, key: Key | undefined): this {
    return new NamedPlace(this.node, slot.cls, this, slot, key) as this;
  }

  protected override hold(
    child: this,
    among: Map<string | number, unknown>,
    name: string | number,
  ): WeakRef<this> {
    const ref = new WeakRef(child);
    names.register(child, () => {
      if (among.get(name) === ref) among.delete(name);
    });
    return ref;
  }
}

const names = new FinalizationRegistry<() => void>((forget) => forget());
