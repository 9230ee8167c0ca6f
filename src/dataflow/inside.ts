import type { SourcePosition } from "../analysis/index.js";
import type { ChildSlot, Shape } from "../model/shape.js";
import type { NodeMethods } from "./methods.js";

/** Keyed children of a class: whether the order between different keys can be seen. */
export interface OrderAmongKeys {
  readonly node: string;
  /** `Bank.branches`. */
  readonly field: string;
  /** Why the order is paid for; empty if it cannot be observed. */
  readonly because: readonly { readonly text: string; readonly position: SourcePosition | null }[];
}

/**
 * Where the order of a logical node is paid for. Events on children with different keys can be told apart in their order only by an
 * event that sees two of them: one that begins above and calls them, or by children that read contexts above them. If
 * there is neither, every key could be a logical node of its own.
 */
export function ordersInside(node: NodeMethods): OrderAmongKeys[] {
  return node.shapes.flatMap((shape) =>
    shape.slots.filter(({ single }) => !single).map((slot) => orderAmong(node, shape, slot)),
  );
}

function orderAmong(node: NodeMethods, holder: Shape, slot: ChildSlot): OrderAmongKeys {
  const below = subtree(node, slot);
  const because: { text: string; position: SourcePosition | null }[] = [];
  for (const { shape, name, effects } of node.every) {
    const label = `${shape.name}.${name}`;
    const [place] = effects.unclear;
    if (place !== undefined) because.push({ text: `${label} cannot be followed`, position: place });
    const declared = shape.methods.get(name)?.reads ?? [];
    if (below.has(shape)) {
      for (const cls of declared)
        because.push({ text: `${label} reads ${cls.name}, which is above`, position: null });
      continue;
    }
    const call = effects.calls.find((each) => below.has(each.shape));
    if (call !== undefined)
      because.push({ text: `${label} calls ${call.shape.name}.${call.method}`, position: call.position });
  }
  return { node: node.name, field: `${holder.name}.${slot.field}`, because };
}

function subtree(node: NodeMethods, { cls }: ChildSlot): ReadonlySet<Shape> {
  const found = new Set(node.shapes.filter((shape) => shape.cls === cls));
  for (const { slots } of found)
    for (const slot of slots) for (const shape of node.shapes) if (shape.cls === slot.cls) found.add(shape);
  return found;
}
