import {
  type BodyFacts,
  binderOf,
  type Hazard,
  isOfFile,
  isReassigned,
  type Thing,
} from "../../points-to/index.js";
import { enclosingFunction, isInside, type Node, type Variable, walk } from "../../source/index.js";
import { changeOf, type WholeProgram } from "../whole/index.js";

/** What means something else in the file of a worker; `arguments` of a function that makes something do not. */
export function isOfFileItself(node: Node): boolean {
  if (node.type === "Identifier") return node.name !== "arguments";
  if (node.type === "ThisExpression") return binderOf(node, null).binder.kind === "file";
  return node.type === "MetaProperty";
}

/** Loading it again would print again, or give something else. */
export function notRepeatable({ module, varies, effects }: BodyFacts, piece: Node | null): Hazard[] {
  const isHere = (node: Node) => piece === null || isInside(node, piece);
  const fact = (node: Node, reason: string): Hazard => ({
    code: "HW-7012",
    node,
    module,
    reason,
    advice: "",
  });
  return [
    ...[...varies].filter(isHere).map((node) => fact(node, "it is something else each time it is made")),
    ...effects
      .filter(({ node }) => isHere(node))
      .map(({ node }) => fact(node, "making it writes to the console")),
  ];
}

/** Variables that functions keep between calls: `const next = (() => { let n = 0; return () => ++n; })()`. */
export function keptState(whole: WholeProgram, values: Iterable<Thing>): Variable | null {
  for (const thing of values) {
    if (thing.kind !== "function" || enclosingFunction(thing.node) === null) continue;
    const module = whole.engine.moduleOf(thing.node);
    let found: Variable | null = null;
    walk(thing.node, (node) => {
      const variable = node.type === "Identifier" ? module.variable(node) : null;
      if (!variable || variable.defs.length === 0 || isOfFile(variable)) return undefined;
      const declared = variable.scope.variableScope.block as unknown as Node;
      if (isInside(declared, thing.node)) return undefined;
      if (isReassigned(variable) || changeOf(whole, variable) !== null) found = variable;
      return undefined;
    });
    if (found !== null) return found;
  }
  return null;
}
