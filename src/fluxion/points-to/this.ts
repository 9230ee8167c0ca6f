import { around, keyOf, type Node } from "../source/index.js";
import { binderOf, boundTo, memberAbove } from "./classes.js";
import type { Engine } from "./engine.js";
import { alone, thingsOf, union, type ValueSet } from "./things.js";

/** What `this` may be; arrows have that of what is around them, which may be outside of what is asked about. */
export function thisValue(engine: Engine, node: Node): ValueSet {
  const { binder, isOutside } = binderOf(node, engine.options.root);
  const known = boundTo(engine, binder);
  if (isOutside) {
    const reason = `it uses \`${node.type === "Super" ? "super" : "this"}\` of what is around it, which does not go with it`;
    engine.fact("HW-7007", node, reason, "use a variable of the file or a parameter");
  }
  if (thingsOf(known).some(({ kind }) => kind === "namespace") && !isAskedForHelper(node)) {
    engine.fact("HW-7007", node, "it uses `this` for what its file exports", "call the function by its name");
  }
  if (known.size === 0 && engine.isStrict()) {
    engine.fact(
      "HW-7007",
      node,
      "it uses `this`, and nothing is known of it",
      "use a variable or a parameter",
    );
    return alone(engine.data("input"));
  }
  return known;
}

/** The class that is being made, which is known by the object. */
export function newTarget(engine: Engine, node: Node): ValueSet {
  const { binder, isOutside } = binderOf(node, engine.options.root);
  const made = thingsOf(boundTo(engine, binder)).map((each) => (each.kind === "site" ? each.madeBy : null));
  const classes = made.flatMap((each) => (each === null ? [] : [alone(each)]));
  if (isOutside || ((classes.length === 0 || classes.length < made.length) && engine.isStrict()))
    engine.fact("HW-7007", node, "it uses `new.target`, and nothing is known of it", "name the class");
  return union(...classes);
}

/** `(this && this.__importDefault) || …`: what compilers put into a file in place of an import. */
function isAskedForHelper(node: Node): boolean {
  const outer = around(node);
  if (outer?.type === "LogicalExpression" && outer.left === node && outer.operator === "&&")
    return outer.right.type === "MemberExpression" && isAskedForHelper(outer.right.object);
  return (
    outer?.type === "MemberExpression" &&
    outer.object === node &&
    keyOf(outer, outer.property)?.startsWith("__") === true
  );
}

/** `super.name` that is not called: only a getter gives something that is not known to be the same elsewhere. */
export function superValue(engine: Engine, node: Node & { type: "MemberExpression" }): ValueSet {
  const key = keyOf(node, node.property);
  const above = key === null ? null : memberAbove(engine, node, key, thisValue(engine, node.object));
  if (above !== null && above.found.size > 0) return above.found;
  engine.fact("HW-7007", node, "it reads `super`, and nothing is known of it", "use a method of the class");
  return alone(engine.data("input"));
}
