import { around, type FunctionNode, keyOf, type Node } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";

/** Functions without a name are numbered from here, as in the paper's listing 4. */
const FIRST_ANONYMOUS = 1000;

/** Every listener has a name of its own. */
export function namesOf(whole: WholeProgram): Map<FunctionNode, string> {
  const names = new Map<FunctionNode, string>();
  const taken = new Set(["main"]);
  let anonymous = FIRST_ANONYMOUS;
  for (const module of whole.program.modules.values()) {
    for (const node of module.functions) {
      if (!whole.listeners.has(node)) continue;
      const written = nameOf(node);
      let name = written ?? `anonymous_${anonymous++}`;
      for (let n = 2; taken.has(name); n++) name = `${written ?? "anonymous"}_${n}`;
      taken.add(name);
      names.set(node, name);
    }
  }
  return names;
}

/** What its author calls a function. */
export function nameOf(node: FunctionNode): string | null {
  if (node.id) return node.id.name;
  const outer: Node | null = around(node);
  if (outer?.type === "VariableDeclarator" && outer.id.type === "Identifier") return outer.id.name;
  if (outer?.type === "Property") return keyOf(outer, outer.key);
  if (outer?.type === "AssignmentExpression" && outer.left.type === "MemberExpression") {
    return keyOf(outer.left, outer.left.property);
  }
  return null;
}
