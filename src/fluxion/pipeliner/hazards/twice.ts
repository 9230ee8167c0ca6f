import { type Body, type Engine, evaluate, reachable } from "../../points-to/index.js";
import {
  enclosingFunction,
  type FunctionNode,
  type Inside,
  isInside,
  type Node,
  plain,
} from "../../source/index.js";

/**
 * Code of which nothing is known is taken to call a function once that it is given. But if one `next` is given away in
 * two ways, it may be called twice in a row, and then the first call must have had its answer before the second. Gives
 * the second place.
 */
export function calledTwice(engine: Engine, passing: ReadonlySet<Body>): Node | null {
  const places = new Map<FunctionNode, Node[]>();
  for (const { body, module, unknown } of engine.bodies.values()) {
    for (const { node, values } of handedOver(module.inside(body), unknown)) {
      const owner = ownerOf(engine, node);
      const isNext = values.some((each) => passesOn(engine, body, each, passing));
      if (owner === null || !isNext) continue;
      const before = places.get(owner) ?? [];
      if (before.some((each) => !isInside(node, each) && !isInside(each, node))) return node;
      places.set(owner, [...before, node]);
    }
  }
  return null;
}

interface HandedOver {
  readonly node: Node;
  readonly values: readonly Node[];
}

/** Calls of unknown code and what they are given; fields of objects and what is kept there. */
function handedOver({ acts }: Inside, unknown: ReadonlySet<Node>): HandedOver[] {
  return acts.flatMap((node): HandedOver[] => {
    if (node.type === "CallExpression") return unknown.has(node) ? [{ node, values: node.arguments }] : [];
    return plain(node.left).type === "MemberExpression" ? [{ node, values: [node.right] }] : [];
  });
}

/** How functions are given away. */
const GIVEN = new Set([
  ..."Identifier FunctionExpression ArrowFunctionExpression ObjectExpression CallExpression".split(" "),
]);

/** The middleware whose `next` it would be. */
function ownerOf(engine: Engine, node: Node): FunctionNode | null {
  for (let outer = enclosingFunction(node); outer !== null; outer = enclosingFunction(outer)) {
    const takesNext = outer.params.some((each) => {
      const variable = each.type === "Identifier" ? engine.moduleOf(each).variable(each) : null;
      return variable && engine.options.roles.get(variable) === "next";
    });
    if (takesNext) return outer;
  }
  return null;
}

function passesOn(engine: Engine, body: Body, value: Node, passing: ReadonlySet<Body>): boolean {
  if (!GIVEN.has(plain(value).type)) return false;
  return [...reachable(engine.at(body, () => evaluate(engine, value)))].some(
    (thing) =>
      (thing.kind === "function" && passing.has(thing.node)) ||
      (thing.kind === "receiver" && thing.receiver === "next"),
  );
}
