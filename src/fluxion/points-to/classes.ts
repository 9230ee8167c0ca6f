import { CLASSES } from "../callees/index.js";
import { type FunctionNode, keyOf, type Node } from "../source/index.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { fill } from "./members.js";
import { alone, type ClassThing, NONE, type Thing, thingsOf, union, type ValueSet } from "./things.js";

type ClassNode = ClassThing["node"];

/** The same for all engines, so that it is one body wherever it is asked for. */
const FIELDS = new WeakMap<ClassNode, FunctionNode>();
const OWNERS = new WeakMap<Node, ClassNode>();

/**
 * What gives an instance its fields, as a function of its own: it runs whenever an instance is made, wherever that is,
 * but it belongs to the file of the class, and its `this` is the instance.
 */
export function fieldsOf(node: ClassNode): FunctionNode {
  const known = FIELDS.get(node);
  if (known !== undefined) return known;
  const { start, end } = node.body;
  const made: FunctionNode = {
    type: "FunctionExpression",
    start,
    end,
    id: null,
    params: [],
    body: null,
    generator: false,
    async: false,
    expression: false,
    parent: node.body,
  };
  FIELDS.set(node, made);
  OWNERS.set(made, node);
  return made;
}

export function hasFields({ body }: ClassNode): boolean {
  return body.body.some(
    (member) => member.type === "PropertyDefinition" && !member.static && member.value !== null,
  );
}

/** Looks at a body if it is such a function. */
export function lookAtFields(engine: Engine, body: Node): void {
  const node = OWNERS.get(body);
  if (node === undefined) return;
  const self = engine.self(fieldsOf(node));
  for (const member of node.body.body) {
    if (member.type !== "PropertyDefinition" || member.static || member.value === null) continue;
    const value = evaluate(engine, member.value);
    for (const thing of thingsOf(self)) fill(engine, thing, keyOf(member, member.key), value, member);
  }
}

/** `super.name`, and who has it: the class above that of the text, not that of the object. */
export interface SuperMember {
  readonly found: ValueSet;
  /** The class above is none of the program, so that it is a method of the language. */
  readonly isForeign: boolean;
}

export function memberAbove(engine: Engine, node: Node, key: string, self: ValueSet): SuperMember | null {
  const place = memberAround(node);
  if (place === null) return null;
  const above = classesAbove(engine, engine.class(place.owner));
  const found = above.map((each): ValueSet => {
    if (each.kind !== "class") return NONE;
    if (place.isStatic) return staticMember(engine, each, key, node, self) ?? NONE;
    return methodOf(engine, each, key, node, self) ?? NONE;
  });
  return { found: union(...found), isForeign: isForeign(place.owner, above) };
}

function isForeign({ superClass }: ClassNode, above: readonly Thing[]): boolean {
  if (superClass === null) return true;
  if (above.length > 0) return above.every(({ kind }) => kind === "builtin");
  return superClass.type === "Identifier" && CLASSES.has(superClass.name);
}

/** The class whose member something is in. A method of an object has a `super` of which nothing is known. */
export function memberAround(node: Node): { owner: ClassNode; isStatic: boolean } | null {
  for (let inner = node; inner.parent; inner = inner.parent) {
    const outer = inner.parent;
    const isMember =
      (outer.type === "MethodDefinition" || outer.type === "PropertyDefinition") && outer.value === inner;
    if (!isMember && outer.type !== "StaticBlock") {
      if (outer.type === "Property" && outer.value === inner && (outer.method || outer.kind !== "init"))
        return null;
      continue;
    }
    const owner = outer.parent?.parent;
    if (owner?.type !== "ClassDeclaration" && owner?.type !== "ClassExpression") return null;
    return { owner, isStatic: outer.type === "StaticBlock" || outer.static };
  }
  return null;
}

/** Where `this` gets its meaning. */
export type Binder =
  | { readonly kind: "function"; readonly node: FunctionNode }
  | { readonly kind: "class"; readonly node: ClassNode }
  | { readonly kind: "file" };

/** Arrows have the `this` of what is around them. Also tells whether that is outside of a piece of the program. */
export function binderOf(node: Node, root: Node | null): { binder: Binder; isOutside: boolean } {
  let isOutside = false;
  for (let inner = node; inner.parent; inner = inner.parent) {
    const outer = inner.parent;
    if (outer.type === "FunctionExpression" || outer.type === "FunctionDeclaration")
      return { binder: { kind: "function", node: outer }, isOutside };
    const isField = outer.type === "PropertyDefinition" && outer.value === inner;
    if (isField || outer.type === "StaticBlock") {
      const owner = outer.parent?.parent;
      if (owner?.type === "ClassDeclaration" || owner?.type === "ClassExpression") {
        if (outer.type === "StaticBlock" || outer.static)
          return { binder: { kind: "class", node: owner }, isOutside };
        return { binder: { kind: "function", node: fieldsOf(owner) }, isOutside };
      }
    }
    if (outer === root) isOutside = true;
  }
  return { binder: { kind: "file" }, isOutside };
}

/** What `this` may be, if that is known. */
export function boundTo(engine: Engine, binder: Binder): ValueSet {
  if (binder.kind === "function") return engine.self(binder.node);
  if (binder.kind === "class") return alone(engine.class(binder.node));
  return engine.module.format === "commonjs" ? alone(engine.namespace(engine.module)) : NONE;
}

/** The method that an instance has, also from the classes above. */
export function methodOf(
  engine: Engine,
  of: ClassThing,
  key: string,
  node: Node,
  self: ValueSet,
  seen: ReadonlySet<ClassThing> = new Set(),
): ValueSet | null {
  const own = ownMember(engine, of, key, node, self, false);
  if (own !== null) return own;
  const found = classesAbove(engine, of).flatMap((above) => {
    if (above.kind !== "class" || seen.has(above)) return [];
    const method = methodOf(engine, above, key, node, self, new Set(seen).add(of));
    return method === null ? [] : [method];
  });
  return found.length === 0 ? null : union(...found);
}

/** Of several members of one name, the last one counts. */
function ownMember(
  engine: Engine,
  of: ClassThing,
  key: string,
  node: Node,
  self: ValueSet,
  isStatic: boolean,
): ValueSet | null {
  const member = of.node.body.body.findLast(
    (each) =>
      each.type === "MethodDefinition" &&
      each.static === isStatic &&
      each.kind !== "set" &&
      keyOf(each, each.key) === key,
  );
  if (member?.type !== "MethodDefinition") return null;
  if (member.kind === "get") return union(engine.call(member.value, node, [], self));
  return alone(engine.function(member.value));
}

/** Getters or setters of a class run; all of them if the text does not tell which. */
export function accessed(
  engine: Engine,
  of: ClassThing,
  kind: "get" | "set",
  key: string | null,
  node: Node,
  args: readonly ValueSet[],
  self: ValueSet,
): void {
  for (const { node: each } of chainOf(engine, of)) {
    for (const member of each.body.body) {
      if (member.type !== "MethodDefinition" || member.kind !== kind) continue;
      const name = keyOf(member, member.key);
      if (key === null || name === null || name === key) engine.call(member.value, node, args, self);
    }
  }
}

export function classesAbove(engine: Engine, of: ClassThing): Thing[] {
  const { superClass } = of.node;
  if (superClass === null || superClass.type !== "Identifier") return [];
  const module = engine.moduleOf(of.node);
  const variable = module.variable(superClass);
  return variable ? [...engine.of(variable)] : [];
}

/** What a class itself has, also from the classes above. */
export function staticMember(
  engine: Engine,
  of: ClassThing,
  key: string,
  node: Node,
  self: ValueSet,
  seen: ReadonlySet<ClassThing> = new Set(),
): ValueSet | null {
  const method = ownMember(engine, of, key, node, self, true);
  engine.inside(of);
  const own = of.fields.get(key);
  if (method !== null) return union(method, own ?? NONE);
  if (own !== undefined) return union(own, of.fields.get("*") ?? NONE);
  const found = classesAbove(engine, of).flatMap((above) => {
    if (above.kind !== "class" || seen.has(above)) return [];
    const member = staticMember(engine, above, key, node, self, new Set(seen).add(of));
    return member === null ? [] : [member];
  });
  return found.length === 0 ? null : union(...found, of.fields.get("*") ?? NONE);
}

/** A class and those above it. */
export function chainOf(engine: Engine, of: ClassThing, seen = new Set<ClassThing>()): Set<ClassThing> {
  if (seen.has(of)) return seen;
  seen.add(of);
  for (const above of classesAbove(engine, of)) if (above.kind === "class") chainOf(engine, above, seen);
  return seen;
}
