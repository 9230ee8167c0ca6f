import { LAST_MATCH } from "../callees/builtins.js";
import { enclosingFunction, keyOf, type Node, plain, written } from "../source/syntax.js";
import type { Engine } from "./engine.js";
import { evaluate } from "./expressions.js";
import { yieldedBy } from "./implicit.js";
import { readReceiver, writeReceiver } from "./receivers.js";
import { alone, type ClassThing, joined, NONE, type Thing, thingsOf, union, type Value } from "./things.js";

const COUNTS = new Set(["length", "size", "byteLength", "name", "message", "stack"]);

/** What is behind a property; `key` is null if the text does not tell which. */
export function memberOf(engine: Engine, object: Value, key: string | null, node: Node): Value {
  const things = thingsOf(object);
  const [first] = things;
  if (first !== undefined && things.length === 1) return memberOfThing(engine, first, key, node);
  let found: Set<Thing> | null = null;
  for (let i = 0; i < things.length; i++) {
    const thing = things[i];
    if (thing !== undefined) found = joined(found, memberOfThing(engine, thing, key, node));
  }
  return found ?? NONE;
}

export function memberOfThing(engine: Engine, thing: Thing, key: string | null, node: Node): Value {
  switch (thing.kind) {
    case "site": {
      if (key === null) {
        if (thing.madeBy !== null) accessed(engine, thing.madeBy, "get", null, node, [], alone(thing));
        return contentsOf(engine, alone(thing));
      }
      const method = thing.madeBy && methodOf(engine, thing.madeBy, key, node, alone(thing));
      engine.inside(thing);
      // An object may have something of its own where its class has a method.
      const own = thing.fields.get(key) ?? NONE;
      return method === null
        ? union(own, COUNTS.has(key) ? NONE : thing.rest)
        : union(method, own, thing.rest);
    }
    case "function":
    case "class":
      if (key === "prototype") return alone(engine.data("loaded", thing.node));
      if (thing.kind === "class" && key !== null) {
        const member = staticMember(engine, thing, key, node, alone(thing));
        if (member !== null) return member;
      }
      engine.inside(thing);
      return key === null
        ? union(...thing.fields.values())
        : union(thing.fields.get(key) ?? NONE, thing.fields.get("*") ?? NONE);
    case "namespace":
      return exported(engine, thing.module, key, node);
    case "library":
      if (key === "default") return alone(thing);
      return alone(engine.library(thing.library, `${thing.path}.${key ?? "…"}`, thing.node, thing.shared));
    case "builtin":
      return key !== null && isProcessText(thing.path, key)
        ? processText(engine, node)
        : builtinMember(engine, `${thing.path}.${key ?? "…"}`, node);
    case "data":
      return key !== null && COUNTS.has(key) ? NONE : alone(thing);
    case "receiver":
      return alone(readReceiver(engine, thing, key, node));
    case "resolver":
      return NONE;
  }
}

/** `process.env.X` is text; but a worker's copy of it is its own. */
function isProcessText(path: string, key: string): boolean {
  return path === "process.env" && key !== "";
}

/** Whoever reads what the last match left behind depends on all that others do. */
function builtinMember(engine: Engine, path: string, node: Node): Value {
  const thing = engine.builtin(path);
  if (!LAST_MATCH.test(path)) return alone(thing);
  engine.changed(thing, node);
  engine.fact(
    "HW-7002",
    node,
    `it reads ${path}, which the last match anywhere leaves`,
    "use what `exec` gives",
  );
  return NONE;
}

function processText(engine: Engine, node: Node): Value {
  engine.fact(
    "HW-7002",
    node,
    "it reads process.env, which can change in the main thread unseen by a worker",
    "read it into a constant of the file",
  );
  return NONE;
}

function exported(engine: Engine, module: Engine["module"], key: string | null, node: Node): Value {
  const namespace = engine.namespace(module);
  if (key === null) return contentsOf(engine, alone(namespace));
  engine.inside(namespace);
  const named = namespace.fields.get(key) ?? NONE;
  const others = [...namespace.whole].filter((each) => each !== namespace);
  const inWhole = others.map((each) => memberOfThing(engine, each, key, node));
  if (key === "exports" && module === engine.module) return union(alone(namespace), named);
  if (key === "default" && module.format === "commonjs") return alone(namespace);
  return union(named, ...inWhole);
}

/** Everything that is in a value, one level down. */
export function contentsOf(engine: Engine, value: Value): Value {
  let found: Set<Thing> | null = null;
  const things = thingsOf(value);
  for (let i = 0; i < things.length; i++) {
    const thing = things[i];
    switch (thing?.kind) {
      case "site":
        engine.inside(thing);
        for (const field of thing.fields.values()) found = joined(found, field);
        found = joined(found, thing.rest);
        break;
      case "namespace":
        engine.inside(thing);
        for (const field of thing.fields.values()) found = joined(found, field);
        found = joined(found, thing.whole);
        break;
      case "data":
      case "library":
      case "receiver":
        found = joined(found, alone(thing));
        break;
      default:
    }
  }
  return found ?? NONE;
}

/** What going through a value gives; that uses up iterators, and a request's own text. */
export function iterated(engine: Engine, value: Value, node: Node): Value {
  for (const thing of thingsOf(value)) {
    if (thing.kind === "receiver") {
      engine.fact(
        "HW-7008",
        node,
        `it reads through ${thing.variable?.name ?? thing.receiver}`,
        "read it before",
      );
    }
  }
  return elementsOf(engine, value, node);
}

/** What is in a value, or what its own iterator gives. */
export function elementsOf(engine: Engine, value: Value, node: Node): Value {
  let found: Set<Thing> | null = null;
  for (const thing of thingsOf(value)) {
    if (thing.kind === "site" && thing.remembers) change(engine, thing, node, written(node), node);
    const yielded = thing.kind === "site" ? yieldedBy(engine, thing, node) : null;
    found = joined(found, yielded ?? contentsOf(engine, alone(thing)));
  }
  return found ?? NONE;
}

export function assignMember(
  engine: Engine,
  target: Node & { type: "MemberExpression" },
  value: Value,
): void {
  const object = evaluate(engine, target.object);
  if (target.computed) evaluate(engine, target.property);
  const key = keyOf(target, target.property);
  for (const thing of thingsOf(object)) {
    if (thing.kind === "receiver") {
      writeReceiver(engine, thing, key, target, value);
      continue;
    }
    if (thing.kind === "namespace" && engine.loading) {
      const isWhole = key === "exports" && plain(target.object).type === "Identifier";
      engine.put(thing, isWhole ? null : key, value);
      continue;
    }
    change(engine, thing, target, written(target), target.object);
    if (thing.kind === "site" && thing.madeBy !== null)
      accessed(engine, thing.madeBy, "set", key, target, [value], alone(thing));
    if (thing.kind === "class") accessed(engine, thing, "set", key, target, [value], alone(thing));
    fill(engine, thing, key, value);
  }
}

/** Puts something into a thing. */
export function fill(engine: Engine, thing: Thing, key: string | null, value: Value): void {
  if (thing.kind === "site" || thing.kind === "function" || thing.kind === "class") {
    engine.put(thing, key, value);
  }
}

/** A thing is changed: allowed for what nobody else can hold. */
export function change(engine: Engine, thing: Thing, node: Node, what: string, target: Node): void {
  if (isUnderConstruction(engine, thing, target)) return;
  engine.changed(thing, node);
  const isLoaded =
    (thing.kind === "site" && thing.shared) ||
    (thing.kind === "library" && thing.shared) ||
    thing.kind === "function" ||
    thing.kind === "class" ||
    thing.kind === "namespace" ||
    (thing.kind === "data" && thing.owner === "loaded");
  if (isLoaded && !engine.loading) {
    engine.fact(
      "HW-7002",
      node,
      `it changes ${what}, which was made when the file was loaded and is shared by every request`,
      "change it in a part of its own, before or after the heavy work",
    );
  }
  if (thing.kind === "builtin") {
    engine.fact(
      "HW-7002",
      node,
      `it changes ${what}, which belongs to the whole process`,
      "pass it on as a value",
    );
  }
  if (thing.kind === "data" && thing.owner === "input") {
    engine.fact(
      "HW-7005",
      node,
      `it changes ${what}, which it was given and others may hold too`,
      "change a copy: `{ ...x }`, `[...x]`, `toSorted()`",
    );
  }
}

/** A local variable that was declared with the new object itself: the object is still being built. */
function isUnderConstruction(engine: Engine, thing: Thing, target: Node): boolean {
  if (thing.kind !== "site") return false;
  // A constructor writes to the object that is being made, also while a file is loaded.
  if (plain(target).type === "ThisExpression" && isInConstructor(plain(target))) return true;
  if (thing.shared) return false;
  let root = plain(target);
  while (root.type === "MemberExpression") root = plain(root.object);
  if (root.type === "ThisExpression") return isInConstructor(root);
  if (root.type !== "Identifier") return false;
  const variable = engine.module.variable(root);
  return (
    variable?.defs.some(({ node }) => {
      const declared = node as unknown as Node;
      return (
        declared.type === "VariableDeclarator" &&
        declared.init !== null &&
        enclosingFunction(declared) === engine.current.body &&
        isMaking(plain(declared.init))
      );
    }) === true && variable.references.filter((each) => each.isWrite()).length === 1
  );
}

function isInConstructor(node: Node): boolean {
  const method = enclosingFunction(node)?.parent;
  return method?.type === "MethodDefinition" && method.kind === "constructor";
}

function isMaking(node: Node): boolean {
  return node.type === "ArrayExpression" || node.type === "ObjectExpression" || node.type === "NewExpression";
}

/** The method that an instance has, also from the classes above. */
export function methodOf(engine: Engine, of: ClassThing, key: string, node: Node, self: Value): Value | null {
  const own = ownMember(engine, of, key, node, self, false);
  if (own !== null) return own;
  const found = classesAbove(engine, of).flatMap((above) => {
    const method = above.kind === "class" ? methodOf(engine, above, key, node, self) : null;
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
  self: Value,
  isStatic: boolean,
): Value | null {
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
function accessed(
  engine: Engine,
  of: ClassThing,
  kind: "get" | "set",
  key: string | null,
  node: Node,
  args: readonly Value[],
  self: Value,
): void {
  for (const member of of.node.body.body) {
    if (member.type !== "MethodDefinition" || member.kind !== kind) continue;
    const name = keyOf(member, member.key);
    if (key === null || name === null || name === key) engine.call(member.value, node, args, self);
  }
  for (const above of classesAbove(engine, of))
    if (above.kind === "class") accessed(engine, above, kind, key, node, args, self);
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
  self: Value,
): Value | null {
  const method = ownMember(engine, of, key, node, self, true);
  engine.inside(of);
  const own = of.fields.get(key);
  if (method !== null) return union(method, own ?? NONE);
  if (own !== undefined) return union(own, of.fields.get("*") ?? NONE);
  const found = classesAbove(engine, of).flatMap((above) => {
    const member = above.kind === "class" ? staticMember(engine, above, key, node, self) : null;
    return member === null ? [] : [member];
  });
  return found.length === 0 ? null : union(...found, of.fields.get("*") ?? NONE);
}
