import { keyOf, type Node } from "../source/index.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { assignMember, fill, iterated, memberOf } from "./members.js";
import { alone, NONE, union, type ValueSet } from "./things.js";
import { write } from "./variables.js";

const PRIMITIVE_TYPES = new Set([
  "TSStringKeyword",
  "TSNumberKeyword",
  "TSBooleanKeyword",
  "TSBigIntKeyword",
]);

/** Gives a value to what stands on the left: a declaration, a parameter, or the target of an assignment. */
export function bind(engine: Engine, target: Node, value: ValueSet): void {
  switch (target.type) {
    case "Identifier": {
      const type = (target as { typeAnnotation?: { typeAnnotation?: Node } | null }).typeAnnotation
        ?.typeAnnotation;
      write(engine, target, type !== undefined && PRIMITIVE_TYPES.has(type.type) ? NONE : value);
      return;
    }
    case "MemberExpression":
      assignMember(engine, target, value);
      return;
    case "AssignmentPattern":
      bind(engine, target.left, union(value, evaluate(engine, target.right)));
      return;
    case "ArrayPattern":
      iterated(engine, value, target); // also if it has no elements
      for (const element of target.elements) {
        if (element?.type === "RestElement") bindRest(engine, element.argument, value);
        else if (element !== null) bind(engine, element, iterated(engine, value, target));
      }
      return;
    case "ObjectPattern":
      for (const property of target.properties) {
        if (property.type === "RestElement") {
          bindRest(engine, property.argument, value);
        } else {
          if (property.computed) evaluate(engine, property.key);
          bind(engine, property.value, memberOf(engine, value, keyOf(property, property.key), property));
        }
      }
      return;
    case "TSParameterProperty":
      bind(engine, target.parameter, value);
      bindField(engine, target.parameter, value);
      return;
    default: {
      const inner = (target as { expression?: Node }).expression;
      if (inner !== undefined) bind(engine, inner, value);
    }
  }
}

export function bindDefault(engine: Engine, parameter: Node): void {
  if (parameter.type === "AssignmentPattern") bind(engine, parameter.left, evaluate(engine, parameter.right));
}

/** `constructor(private list: string[])` makes a field of it, too. */
function bindField(engine: Engine, parameter: Node, value: ValueSet): void {
  const isDefault = parameter.type === "AssignmentPattern";
  const name = isDefault ? parameter.left : parameter;
  if (name.type !== "Identifier") return;
  const all = isDefault ? union(value, evaluate(engine, parameter.right)) : value;
  for (const thing of engine.self(engine.current.body)) fill(engine, thing, name.name, all, name);
}

function bindRest(engine: Engine, target: Node, value: ValueSet): void {
  const rest = engine.site(target);
  engine.put(rest, null, iterated(engine, value, target));
  bind(engine, target, alone(rest));
}
