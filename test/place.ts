import type { Context, ContextClass, Key } from "headwater";
import { Address } from "#src/model/address.js";
import { INVOKE, type InvocationScope, type Ref, reference } from "#src/model/refs.js";
import type { Method } from "#src/model/shape.js";
import { type ChildSlot, type Shape, shapeOf } from "#src/model/shape.js";

/** A tree of contexts that is named but not run, for tests of the model and of state alone. */
export class Place extends Address {
  override readonly shape: Shape;

  constructor(
    node: string,
    cls: ContextClass,
    parent: Place | null,
    slot: ChildSlot | null,
    key: Key | undefined,
  ) {
    super(node, parent, slot, key);
    this.shape = shapeOf(cls, key);
  }

  protected override make(slot: ChildSlot, key: Key | undefined): this {
    return new Place(this.node, slot.cls, this, slot, key) as this;
  }

  static root(cls: unknown, node = (cls as ContextClass).name): Place {
    return new Place(node, cls as ContextClass, null, null, undefined);
  }
}

/** Keeps what was called through references, in order. */
export class Calls implements InvocationScope {
  readonly made: string[] = [];

  [INVOKE](target: Address, method: Method, args: unknown[]): unknown {
    this.made.push(`${target}.${method.name}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`);
    return this.made.length;
  }

  root<C extends Context<Key>>(place: Place): Ref<C> {
    return reference(this, place) as unknown as Ref<C>;
  }
}
