import {
  type BodyFacts,
  type Engine,
  evaluate,
  type Hazard,
  reachable,
  type Thing,
  type ValueSet,
} from "../../points-to/index.js";
import { isFunction, type Node, type Variable } from "../../source/index.js";

/**
 * A worker has objects of the files, too, but its own: one that comes back is not the main loop's object. Gives
 * whether a value may have such in it that some code finds in variables of files, also if functions made them.
 */
export function isOfMainLoop(engine: Engine, bodies: readonly BodyFacts[], value: ValueSet): boolean {
  if (value.size === 0) return false;
  const objects = [...reachable(value)].filter(mayBeLoaded);
  if (objects.length === 0) return false;
  const own = new Set<Node>(bodies.map(({ body }) => body));
  const variables = new Set(bodies.flatMap((each) => [...each.uses.values(), ...keptBy(each, own)]));
  const held = new Set([...variables].flatMap((each) => [...reachable(engine.of(each))]));
  return objects.some((thing) => held.has(thing) || isLoaded(thing));
}

function mayBeLoaded(thing: Thing): boolean {
  return thing.kind === "site" || (thing.kind === "data" && /^(fresh|loaded)$/.test(thing.owner));
}

/** Variables of functions that have ended before: what a closure keeps. */
function keptBy({ body, module }: BodyFacts, own: ReadonlySet<Node>): Variable[] {
  return module.inside(body).names.flatMap((name): Variable[] => {
    const variable = module.variable(name);
    if (!variable || variable.defs.length === 0) return [];
    const declared = variable.scope.variableScope.block as unknown as Node;
    return isFunction(declared) && !own.has(declared) ? [variable] : [];
  });
}

function isLoaded(thing: Thing): boolean {
  return (thing.kind === "site" && thing.shared) || (thing.kind === "data" && thing.owner === "loaded");
}

/** What goes back to the program as an object of its own: what is kept in a request, given to `next`, or thrown. */
export function givenBack(engine: Engine, bodies: readonly BodyFacts[]): Hazard[] {
  return bodies.flatMap(({ body, module, effects }) => {
    const kept = effects.flatMap(({ receiver, node }): readonly Node[] => {
      if (receiver.receiver === "next") return node.type === "CallExpression" ? node.arguments : [];
      const outer = receiver.receiver === "request" ? node.parent : null;
      return outer?.type === "AssignmentExpression" && outer.left === node ? [outer.right] : [];
    });
    return [...kept, ...module.inside(body).throws].flatMap((node): Hazard[] => {
      const value = engine.at(body, () => evaluate(engine, node));
      return isOfMainLoop(engine, bodies, value) ? [notTheSame(module, node, "what it gives away")] : [];
    });
  });
}

export function notTheSame(module: BodyFacts["module"], node: Node, what: string): Hazard {
  return {
    code: "HW-7005",
    node,
    module,
    reason: `${what} may be, or have in it, an object of the file: a copy would not be the same`,
    advice: "give a new object: `{ ...x }`, `[...x]`, or a text",
  };
}
