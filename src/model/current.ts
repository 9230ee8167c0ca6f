import type { Address } from "./address.js";
import type { Context, ContextClass } from "./context.js";
import type { CurrentEvent } from "./event.js";
import type { Key } from "./key.js";
import { type Elsewhere, type InvocationScope, reference } from "./refs.js";
import * as rules from "./rules.js";
import { isKindOf } from "./shape.js";

/** What `this.event` says of the context it is used in: the same in every runtime. */
export abstract class Current implements Pick<CurrentEvent, "node" | "address" | "parent"> {
  /** The context that the method runs in. */
  protected abstract get here(): Address;
  /** Decides what calling through a reference means that the method got here. */
  protected abstract get scope(): InvocationScope;

  get node(): string {
    return this.here.node;
  }

  get address(): string {
    return String(this.here);
  }

  parent<T extends Context<Key>>(cls: abstract new () => T): Elsewhere<T> | undefined {
    const { parent } = this.here;
    if (parent === null || !isKindOf(parent.shape.cls, cls)) return undefined;
    return reference(this.scope, parent) as unknown as Elsewhere<T>;
  }
}

/** May a timer or an outside call of a context start its event there? */
export function isAtOrAbove(target: Address, address: Address): boolean {
  return target === address || address.isBelow(target);
}

/** The root of the only logical node that has a root of this class, and this name if there is one. */
export function rootNamed<A extends Address>(
  roots: ReadonlyMap<string, A>,
  cls: ContextClass,
  name: string | undefined,
): A {
  const found = name === undefined ? onlyRoot(roots, cls) : roots.get(name);
  if (found && isKindOf(found.shape.cls, cls)) return found;
  throw rules.noSuchPeer(cls, name, [...roots.keys()]);
}

/** What `onlyRoot` has found among so many roots, by class; null if there is not exactly one. */
const found = new WeakMap<
  object,
  { readonly size: number; readonly byClass: Map<ContextClass, Address | null> }
>();

/** The logical nodes of a program do not change while it runs, so they are looked through once for each class. */
function onlyRoot<A extends Address>(roots: ReadonlyMap<string, A>, cls: ContextClass): A | null {
  let known = found.get(roots);
  if (known?.size !== roots.size) {
    known = { size: roots.size, byClass: new Map() };
    found.set(roots, known);
  }
  let only = known.byClass.get(cls) as A | null | undefined;
  if (only === undefined) {
    const [first = null, another] = [...roots.values()].filter(({ shape }) => isKindOf(shape.cls, cls));
    only = another === undefined ? first : null;
    known.byClass.set(cls, only);
  }
  return only;
}
