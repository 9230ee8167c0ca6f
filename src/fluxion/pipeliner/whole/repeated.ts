import { isFunction, type Node } from "../../source/index.js";

const REPEATING = /^(map|forEach|flatMap|filter|reduce|some|every)$/;

/** Called several times by what is around it, so that several continuations are under way. */
export function isRepeated(node: Node): boolean {
  for (let outer = node.parent; outer; outer = outer.parent) {
    if (/^(For|While|DoWhile)/.test(outer.type)) return true;
    if (isFunction(outer)) {
      const call = outer.parent;
      const callee = call?.type === "CallExpression" ? call.callee : null;
      return (
        callee?.type === "MemberExpression" &&
        callee.property.type === "Identifier" &&
        REPEATING.test(callee.property.name)
      );
    }
  }
  return false;
}
