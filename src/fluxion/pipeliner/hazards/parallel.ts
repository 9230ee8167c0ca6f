import type { Body, Hazard } from "../../points-to/index.js";
import { type FunctionNode, isFunction, isInside, type Node, type Variable } from "../../source/index.js";
import { isRepeated, type WholeProgram } from "../whole/index.js";

/**
 * A part that ends later than before could be overtaken by another part of the same request. It cannot be observed unless both
 * do something to the same request, response or `next`.
 */
export function overtaking(whole: WholeProgram, own: Body, receivers: Iterable<Variable>): Hazard[] {
  return [...receivers].flatMap((variable): Hazard[] => {
    const other = rival(whole, own, variable);
    if (other === null) return [];
    return [
      {
        code: "HW-7010",
        node: other,
        module: whole.engine.moduleOf(other),
        reason: `another part of the same request uses ${variable.name} as well, and could overtake it`,
        advice: "wait for one before the other: nest them, or use `await`",
      },
    ];
  });
}

/** A use of a variable by something that may run while `own` is under way. */
function rival(whole: WholeProgram, own: Body, variable: Variable): Node | null {
  if (isFunction(own) && isRepeatedPart(whole, own, variable)) return own;
  for (const { identifier } of variable.references) {
    const node = identifier as unknown as Node;
    const part = partAround(whole, node, variable);
    if (part === own) continue;
    if (part === null) {
      if (isWaiting(declaringFunction(variable), own)) return node;
    } else if (!isInside(own, part) || isWaiting(part, own)) {
      if (!isFunction(own) || !inOneChain(whole, own, part)) return node;
    }
  }
  return null;
}

/** The innermost listener around a use, inside of the function that declares the variable. */
function partAround(whole: WholeProgram, node: Node, variable: Variable): FunctionNode | null {
  const end = declaringFunction(variable);
  for (let outer = node.parent; outer; outer = outer.parent) {
    if (outer === end) return null;
    if (isFunction(outer) && whole.listeners.has(outer)) return outer;
  }
  return null;
}

function declaringFunction(variable: Variable): Node {
  return variable.scope.variableScope.block as unknown as Node;
}

/** A function around that goes on after an `await` while the part inside of it is under way. */
function isWaiting(around: Node, own: Body): boolean {
  return around !== own && isFunction(around) && around.async && isInside(own, around);
}

/** It, or a part around it, is a continuation of several calls. */
function isRepeatedPart(whole: WholeProgram, own: FunctionNode, variable: Variable): boolean {
  const end = declaringFunction(variable);
  for (let part: Node | null | undefined = own; part && part !== end; part = part.parent) {
    if (!isFunction(part)) continue;
    if (whole.listeners.get(part)?.ruptures.some(({ node }) => isRepeated(node)) === true) return true;
  }
  return false;
}

/** `a.then(own).then(other)`: one after the other. */
function inOneChain(whole: WholeProgram, own: FunctionNode, other: FunctionNode): boolean {
  const [mine, theirs] = [own, other].map((each) => whole.listeners.get(each)?.ruptures ?? []);
  return (mine ?? []).some((a) =>
    (theirs ?? []).some(
      (b) => a.node !== b.node && (isInside(a.node, b.node.callee) || isInside(b.node, a.node.callee)),
    ),
  );
}
