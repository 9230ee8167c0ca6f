import { NONE, reachable, type Thing, type ValueSet } from "../../points-to/index.js";
import { enclosingFunction, type FunctionNode, isFunction, isInside, type Node } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

const KNOWN = new WeakMap<WholeProgram, ReadonlySet<Thing>>();

/**
 * Everything that others than the request that made it can get hold of: what variables of files hold, what functions
 * remember that are called later, and what was given to code of which nothing is known.
 */
export function escapedThings(whole: WholeProgram): ReadonlySet<Thing> {
  const known = KNOWN.get(whole);
  if (known !== undefined) return known;
  const found = new Set<Thing>();
  KNOWN.set(whole, found);
  const remembered = new Set<FunctionNode>();
  const waiting: Thing[] = [];
  const add = (value: ValueSet) => {
    for (const thing of reachable(value)) {
      if (found.has(thing)) continue;
      found.add(thing);
      waiting.push(thing);
    }
  };
  const remember = (node: FunctionNode) => {
    if (remembered.has(node)) return;
    remembered.add(node);
    for (const value of rememberedBy(whole, node)) add(value);
  };
  for (const module of whole.program.modules.values()) {
    for (const variable of module.top.variables) add(whole.engine.of(variable));
  }
  for (const node of whole.listeners.keys()) remember(node);
  for (const { changes, unknown } of whole.engine.bodies.values()) {
    for (const node of changes.size === 0 ? [] : unknown) add(changes.get(node) ?? NONE);
  }
  for (let thing = waiting.pop(); thing !== undefined; thing = waiting.pop()) {
    if (thing.kind === "function") remember(thing.node);
    const of = thing.kind === "class" ? thing : thing.kind === "site" ? thing.madeBy : null;
    for (const member of of?.node.body.body ?? []) {
      if ("value" in member && isFunction(member.value as Node | null))
        remember(member.value as FunctionNode);
    }
  }
  return found;
}

/** What the variables hold that a function, or one inside of it, uses of the functions around it. */
function rememberedBy(whole: WholeProgram, node: FunctionNode): ValueSet[] {
  if (enclosingFunction(node) === null) return [];
  const module = whole.engine.moduleOf(node);
  const { functions, names } = module.inside(node);
  const own = names.flatMap((name): ValueSet[] => {
    const variable = module.variable(name);
    if (!variable || variable.defs.length === 0 || whole.roles.has(variable)) return [];
    const declared = variable.scope.variableScope.block as unknown as Node;
    return isFunction(declared) && !isInside(declared, node) ? [whole.engine.of(variable)] : [];
  });
  return [...own, ...functions.flatMap((inner) => rememberedBy(whole, inner))];
}
